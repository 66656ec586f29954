// The phone's page. It reports where a finger, a wheel or a key was, and shows the screen it is given. No rule of any app is here.
'use strict';
(() => {
  const { session, width, height } = document.body.dataset;
  const glass = document.getElementById('glass');
  const paper = document.getElementById('paper');
  const mark = document.getElementById('mark');
  const touch = document.getElementById('touch');
  const trouble = document.getElementById('trouble');
  const ear = document.getElementById('ear');
  const api = `/api/sessions/${session}`;
  let size = { width: Number(width), height: Number(height) };
  let version = -1;
  let scale = 1;
  let pending = Promise.resolve();
  let finger = null;
  let wheel = null;

  function fit() {
    scale = Math.min(window.innerWidth / size.width, window.innerHeight / size.height);
    paper.style.transform = `scale(${scale})`;
  }

  async function ask(path, body) {
    const options = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(api + path, options);
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.hint ? `${json.message} (${json.hint})` : json.message);
    return json;
  }

  async function show(screen) {
    if (screen.version === version) return;
    const fresh = document.createElement('div');
    fresh.innerHTML = screen.html;
    // Decode first, so that the screen changes in one go.
    await Promise.all([...fresh.querySelectorAll('img')].map(i => i.decode().catch(() => {})));
    version = screen.version;
    size = { width: screen.width, height: screen.height };
    paper.replaceChildren(...fresh.childNodes);
    fit();
    if (window.parent !== window) window.parent.postMessage({ phoneworld: 'shown', version, size }, location.origin);
  }

  function report(error) { trouble.textContent = error ? error.message : ''; trouble.hidden = !error; }

  // One after the other: what was typed first arrives first.
  function send(input) {
    pending = pending.then(async () => {
      try { await show(await ask('/input', { input })); report(null); } catch (error) { report(error); }
    });
    return pending;
  }

  async function look() {
    try { await show(await ask('/screen')); report(null); } catch (error) { report(error); }
  }

  function place(event) {
    const box = glass.getBoundingClientRect();
    return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale, performance.now()];
  }

  function moveTouch(event) { touch.style.left = `${event.clientX}px`; touch.style.top = `${event.clientY}px`; }

  glass.addEventListener('pointerdown', event => {
    if (event.button !== 0 || finger) return;
    ear.focus({ preventScroll: true });
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
  function lift(event) {
    if (!finger || event.pointerId !== finger.id) return;
    finger.points.push(place(event));
    const points = finger.points;
    finger = null;
    touch.hidden = true;
    send({ kind: 'pointer', points });
  }
  glass.addEventListener('pointerup', lift);
  glass.addEventListener('pointercancel', () => { finger = null; touch.hidden = true; });
  glass.addEventListener('contextmenu', event => event.preventDefault());

  // A turn of the wheel is many events: they are summed until it rests.
  glass.addEventListener('wheel', event => {
    event.preventDefault();
    const [x, y] = place(event);
    if (wheel) { wheel.dx += event.deltaX; wheel.dy += event.deltaY; return; }
    wheel = { kind: 'wheel', x, y, dx: event.deltaX, dy: event.deltaY };
    setTimeout(() => { const turned = wheel; wheel = null; send(turned); }, 90);
  }, { passive: false });

  glass.addEventListener('keydown', event => {
    if (event.isComposing || event.key === 'Dead' || event.key === 'Process' || event.key === 'Unidentified' || event.key === 'Shift') return;
    // Shortcuts are the browser's own; AltGr, which some systems report as Ctrl+Alt, writes characters.
    if ((event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph')) return;
    event.preventDefault();
    send({ kind: 'key', key: event.key });
  });
  // What an input method, a dead key or an emoji picker writes comes as text and not as keys. It is heard by a field that nobody sees.
  ear.addEventListener('beforeinput', event => {
    if (event.isComposing || event.inputType === 'insertCompositionText') return;
    if (event.inputType === 'insertText' && event.data) send({ kind: 'text', text: event.data });
    event.preventDefault();
  });
  ear.addEventListener('compositionend', event => {
    if (event.data) send({ kind: 'text', text: event.data });
    ear.value = '';
  });
  glass.addEventListener('focus', () => ear.focus({ preventScroll: true }));
  document.addEventListener('paste', event => {
    const text = event.clipboardData.getData('text');
    if (text) send({ kind: 'text', text });
    event.preventDefault();
  });

  window.addEventListener('message', event => {
    if (event.origin !== location.origin || typeof event.data !== 'object' || event.data === null) return;
    if (event.data.phoneworld === 'look') look();
    if (event.data.phoneworld === 'button') send({ kind: 'button', name: event.data.name });
    if (event.data.phoneworld === 'mark') {
      const bounds = event.data.bounds;
      mark.hidden = !bounds;
      if (bounds) {
        const [left, top, right, bottom] = bounds.map(n => n * scale);
        Object.assign(mark.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
      }
    }
  });
  window.addEventListener('resize', fit);
  // Others may use this phone too: look again when its version has moved on.
  setInterval(async () => {
    if (document.hidden) return;
    try { if ((await ask('')).version !== version) look(); } catch (error) { report(error); }
  }, 1000);
  fit();
  look().then(() => ear.focus({ preventScroll: true }));
})();
