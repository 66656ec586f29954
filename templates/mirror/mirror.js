// The mirror's page: shows the phone's latest settled picture, and reports where fingers and keys were on it. What that means is decided by the recorder.
'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const glass = $('glass');
  const keys = $('keys');
  const picture = $('picture');
  const touch = $('touch');
  const trouble = $('trouble');
  const DOUBLE_MS = 300;
  const TYPING_MS = 600;
  let view = { serial: -1, version: -1, busy: true };
  let newest = -1;
  let notice = '';
  let finger = null;
  let strokes = [];
  let strokesTimer = 0;
  let wheel = null;
  let typed = '';
  let typedTimer = 0;
  let queue = [];
  let sending = false;

  // What the server refused stays until the next act; else what the recorder has to say.
  function report() {
    const message = notice || view.message || '';
    trouble.textContent = message;
    trouble.hidden = !message;
  }

  async function ask(path, body) {
    const options = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(`/api/mirror${path}`, options);
    const json = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(json.hint ? `${json.message} (${json.hint})` : json.message), { status: answer.status });
    return json;
  }

  // Two answers may be on their way at once: an older view never takes the place of a newer one.
  async function show(next) {
    if (next.serial < newest) return;
    newest = next.serial;
    if (next.version !== view.version && next.has_picture) {
      const image = new Image();
      image.src = `/api/mirror/screen?version=${next.version}`;
      await image.decode().catch(() => {});
      if (next.serial !== newest) return;
      picture.src = image.src;
    }
    if (view.serial < 0) $('instruction').value ||= next.instruction;
    view = next;
    $('log').replaceChildren(...view.log.map(([step, what]) => {
      const line = document.createElement('li');
      line.value = step;
      line.textContent = what;
      return line;
    }).reverse());
    glass.setAttribute('aria-busy', String(view.busy));
    document.body.dataset.version = String(view.version);
    $('steps').textContent = view.steps;
    const badge = $('badge');
    badge.textContent = view.finished ? 'finished' : view.in_trace ? 'recording' : 'not recording';
    badge.className = `badge ${view.in_trace ? 'recorded' : 'unrecorded'}`;
    $('doing').textContent = view.in_trace ? view.instruction || 'A trace without a task is being recorded.' : 'What you do now is not recorded.';
    $('stop').disabled = !view.in_trace || view.busy;
    $('start').disabled = view.busy;
    report();
    if (view.finished) document.querySelectorAll('button').forEach(b => { b.disabled = true; });
    pump();
  }

  // The server answers when there is another view, so no look is wasted.
  async function follow() {
    while (!view.finished) {
      try { await show(await ask(`?serial=${newest}`)); } catch (error) { notice = error.message; report(); await new Promise(r => setTimeout(r, 1000)); }
    }
  }

  async function pump() {
    if (sending || view.busy || !queue.length) return;
    sending = true;
    const next = queue.shift();
    notice = '';
    try {
      await show(next.path ? await ask(next.path, next.body) : await ask('/input', { version: view.version, input: next }));
    } catch (error) {
      // What was meant for the picture is not done on another; what is asked of the recorder holds, and waits.
      queue = queue.filter(other => other.path);
      if (next.path && error.status === 409) { queue.unshift(next); await new Promise(r => setTimeout(r, 100)); } else { notice = error.message; report(); }
    } finally { sending = false; }
    pump();
  }

  function send(input) {
    flushTyping();
    queue.push(input);
    pump();
  }

  function type(text) {
    typed += text;
    clearTimeout(typedTimer);
    typedTimer = setTimeout(flushTyping, TYPING_MS);
  }

  // What is typed without a pause is one text.
  function flushTyping() {
    clearTimeout(typedTimer);
    if (!typed) return;
    const text = typed;
    typed = '';
    queue.push({ kind: 'text', text });
    pump();
  }

  function place(event) {
    const box = picture.getBoundingClientRect();
    return [(event.clientX - box.left) * view.width / box.width, (event.clientY - box.top) * view.height / box.height, performance.now()];
  }

  function moveTouch(event) {
    const box = glass.getBoundingClientRect();
    touch.style.left = `${event.clientX - box.left}px`;
    touch.style.top = `${event.clientY - box.top}px`;
  }

  glass.addEventListener('pointerdown', event => {
    if (event.button !== 0 || finger || (view.busy && !strokes.length)) return;
    clearTimeout(strokesTimer);
    keys.focus();
    glass.setPointerCapture(event.pointerId);
    finger = { id: event.pointerId, points: [place(event)] };
    moveTouch(event);
    touch.hidden = false;
    event.preventDefault();
  });
  glass.addEventListener('pointermove', event => {
    if (!finger || event.pointerId !== finger.id) return;
    if (finger.points.length < 1900) finger.points.push(place(event));
    moveTouch(event);
  });
  function sendStrokes() {
    const done = strokes;
    strokes = [];
    if (done.length) send({ kind: 'strokes', strokes: done.map(points => [points]) });
  }
  glass.addEventListener('pointerup', event => {
    if (!finger || event.pointerId !== finger.id) return;
    finger.points.push(place(event));
    strokes.push(finger.points);
    const short = finger.points[finger.points.length - 1][2] - finger.points[0][2] < DOUBLE_MS;
    finger = null;
    touch.hidden = true;
    // A second tap may make a double tap of it: both go together.
    if (short && strokes.length < 2) strokesTimer = setTimeout(sendStrokes, DOUBLE_MS); else sendStrokes();
  });
  glass.addEventListener('pointercancel', () => { finger = null; touch.hidden = true; });
  glass.addEventListener('contextmenu', event => event.preventDefault());

  glass.addEventListener('wheel', event => {
    event.preventDefault();
    const [x, y] = place(event);
    if (wheel) { wheel.dx += event.deltaX; wheel.dy += event.deltaY; return; }
    wheel = { x, y, dx: event.deltaX, dy: event.deltaY, pinch: event.ctrlKey };
    setTimeout(() => {
      const turned = wheel;
      wheel = null;
      if (turned.pinch) send({ kind: 'pinch', x: turned.x, y: turned.y, scale: turned.dy < 0 ? 2 : 0.5 });
      else send({ kind: 'wheel', x: turned.x, y: turned.y, dx: turned.dx, dy: turned.dy });
    }, 90);
  }, { passive: false });

  glass.addEventListener('keydown', event => {
    if (event.isComposing || ['Dead', 'Shift', 'Process', 'Unidentified'].includes(event.key)) return;
    if ((event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph')) return;
    event.preventDefault();
    if (event.key.length === 1 || [...event.key].length === 1) type(event.key);
    else send({ kind: 'key', key: event.key });
  });
  glass.addEventListener('paste', event => {
    const text = event.clipboardData.getData('text');
    if (text) send({ kind: 'text', text });
    event.preventDefault();
  });
  // Input methods and emoji pickers press no keys: their text comes into a field of its own, and goes on from there.
  function takeInserted() {
    const text = keys.value;
    keys.value = '';
    if (text) type(text);
  }
  keys.addEventListener('input', event => { if (!event.isComposing) takeInserted(); });
  keys.addEventListener('compositionend', takeInserted);

  document.querySelectorAll('[data-button]').forEach(button => button.addEventListener('click', () => { keys.focus(); send({ kind: 'button', name: button.dataset.button }); }));
  // What was done before goes first: a tap that might become two, words that might go on, what waits for the phone.
  function tell(path, body) {
    clearTimeout(strokesTimer);
    sendStrokes();
    flushTyping();
    queue.push({ path, body });
    keys.focus();
    pump();
  }
  $('start').addEventListener('click', () => tell('/trace', { instruction: $('instruction').value }));
  $('stop').addEventListener('click', () => tell('/trace/stop', {}));
  let finishing = false;
  $('finish').addEventListener('click', () => {
    // A phone that does not answer is not waited for a second time.
    if (finishing) ask('/finish', {}).then(show, error => { notice = error.message; report(); }); else tell('/finish', {});
    finishing = true;
  });
  follow();
  keys.focus();
})();
