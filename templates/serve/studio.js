// The studio: shows what the API says of a phone, and asks it for what the buttons mean. No rule of any app is here.
'use strict';
(() => {
  const desk = document.querySelector('.desk');
  const id = desk.dataset.session;
  const api = `/api/sessions/${id}`;
  const frame = document.getElementById('phone');
  const trouble = document.getElementById('trouble');
  const byId = name => document.getElementById(name);
  let version = -1;
  let size = null;
  let pinned = null;

  async function ask(path, body, method = 'POST') {
    const options = body === undefined ? {} : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(path, options);
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.hint ? `${json.message} (${json.hint})` : json.message);
    return json;
  }
  function report(error) { trouble.textContent = error ? error.message : ''; trouble.hidden = !error; }
  function tell(message) { frame.contentWindow.postMessage(message, location.origin); }
  function element(name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function fitCase(now) {
    if (size && size.width === now.width && size.height === now.height) return;
    size = { width: now.width, height: now.height };
    frame.style.aspectRatio = `${size.width} / ${size.height}`;
    document.querySelector('.case').classList.toggle('wide', size.width > size.height);
  }

  function showNow(now) {
    fitCase(now);
    const clock = now.clock_ms ? new Date(now.clock_ms).toISOString().replace('T', ' ').slice(0, 19) : '—';
    const facts = [
      ['screen', now.screen], ['app', now.package + (now.activity ? ` ${now.activity}` : '')], ['keyboard', now.keyboard ? 'up' : 'down'],
      ['clock', clock], ['size', `${now.width} × ${now.height} at ${now.density} dpi`], ['session', `${now.id}, seed ${now.seed}, ${now.steps} steps`],
    ];
    byId('now').replaceChildren(...facts.flatMap(([name, value]) => [element('dt', '', name), element('dd', '', value)]));
    const start = byId('start');
    if (!start.options.length) {
      for (const name of now.starts) start.add(new Option(name, name));
      start.value = now.start || now.starts[0];
    }
    const restore = byId('restore');
    restore.replaceChildren(new Option('Restore…', ''), ...now.snapshots.map(name => new Option(name, name)));
    restore.disabled = !now.snapshots.length;
  }

  function words(action) {
    const { kind, text, key, x, y, x2, y2, ...rest } = action;
    const parts = [kind.replace('_', ' ')];
    if (text !== undefined) parts.push(JSON.stringify(text));
    if (key !== undefined) parts.push(key);
    if (x !== undefined) parts.push(`${x}, ${y}`);
    if (x2 !== undefined) parts.push(`→ ${x2}, ${y2}`);
    for (const name of ['package', 'scale', 'status']) if (rest[name] !== undefined) parts.push(rest[name]);
    return parts.join(' ');
  }

  function showSteps(steps) {
    byId('steps').replaceChildren(...steps.slice(-60).reverse().map(step => {
      const item = element('li', step.valid ? step.evidence : 'invalid');
      item.value = step.number;
      const line = element('p', 'line');
      line.append(element('span', 'number', step.number), element('b', '', words(step.action)), element('span', `badge ${step.evidence}`, step.evidence));
      item.append(line);
      const after = step.changed ? `→ ${step.screen}` : 'nothing changed';
      item.append(element('p', 'quiet', step.message ? `${after} · ${step.message}` : after));
      if (step.rules.length) item.title = step.rules.join(', ');
      return item;
    }));
  }

  function short(name) { return (name || '').split('.').pop(); }

  function branch(node, depth) {
    const line = element('div', 'twig');
    line.setAttribute('role', 'treeitem');
    line.style.paddingLeft = `${8 + depth * 12}px`;
    line.append(element('span', 'class', short(node.class)));
    const label = node.text || node.content_desc || node.hint;
    if (label) { const said = element('span', 'said', label); said.dir = 'auto'; line.append(said); }
    if (node.resource_id) line.append(element('span', 'rid', node.resource_id.split('/').pop()));
    const flags = ['clickable', 'checked', 'focused', 'scrollable', 'selected'].filter(f => node[f]);
    if (flags.length) line.append(element('span', 'flags', flags.join(' ')));
    if (node.visible === false || node.enabled === false) line.classList.add('faint');
    line.addEventListener('mouseenter', () => { tell({ phoneworld: 'mark', bounds: node.bounds }); if (!pinned) showNode(node); });
    line.addEventListener('mouseleave', () => tell({ phoneworld: 'mark', bounds: pinned ? pinned.bounds : null }));
    line.addEventListener('click', () => {
      pinned = pinned === node ? null : node;
      for (const other of document.querySelectorAll('.twig.pinned')) other.classList.remove('pinned');
      line.classList.toggle('pinned', pinned === node);
      showNode(node);
    });
    return [line, ...(node.children || []).flatMap(child => branch(child, depth + 1))];
  }

  function showNode(node) {
    const list = element('dl', 'facts');
    for (const [name, value] of Object.entries(node)) {
      if (name === 'children') continue;
      list.append(element('dt', '', name), element('dd', '', Array.isArray(value) ? `[${value.slice(0, 2)}][${value.slice(2)}]` : String(value)));
    }
    byId('node').replaceChildren(list);
  }

  function showTree(tree) {
    pinned = null;
    byId('tree').replaceChildren(...tree.windows.flatMap(window => branch(window, 0)));
  }

  async function refresh() {
    const now = await ask(api);
    if (now.version === version) return;
    version = now.version;
    const [steps, tree, state] = await Promise.all([ask(`${api}/steps`), ask(`${api}/tree`), ask(`${api}/state`)]);
    showNow(now);
    showSteps(steps);
    showTree(tree);
    const patch = byId('patch');
    if (document.activeElement !== patch) patch.value = JSON.stringify(state, null, 2);
  }
  function look() { return refresh().then(() => report(null)).catch(report); }
  async function act(work) { try { await work(); report(null); } catch (error) { report(error); } version = -1; await look(); tell({ phoneworld: 'look' }); }

  byId('reset').addEventListener('click', () => act(() => ask(`${api}/reset`, { seed: Number(byId('seed').value) || 0, start: byId('start').value || null })));
  byId('start').addEventListener('change', () => byId('reset').click());
  byId('snapshot').addEventListener('click', () => act(() => ask(`${api}/snapshot`, {})));
  byId('restore').addEventListener('change', event => { const snapshot = event.target.value; if (snapshot) act(() => ask(`${api}/restore`, { snapshot })); });
  byId('fork').addEventListener('click', async () => { try { window.open(`/sessions/${(await ask(`${api}/fork`, {})).id}`, '_blank', 'noopener'); } catch (error) { report(error); } });
  byId('apply').addEventListener('click', () => act(async () => {
    byId('verdict').textContent = '';
    await ask(`${api}/state`, JSON.parse(byId('patch').value), 'PATCH');
    byId('patch').blur();
    byId('verdict').textContent = 'applied';
  }));
  for (const button of document.querySelectorAll('[data-button]')) {
    button.addEventListener('click', () => { tell({ phoneworld: 'button', name: button.dataset.button }); frame.focus(); });
  }
  for (const tab of document.querySelectorAll('[data-tab]')) {
    tab.addEventListener('click', () => {
      for (const other of document.querySelectorAll('[data-tab]')) {
        other.setAttribute('aria-selected', String(other === tab));
        byId(other.dataset.tab).hidden = other !== tab;
      }
    });
  }
  window.addEventListener('message', event => {
    if (event.origin === location.origin && event.data && event.data.phoneworld === 'shown') look();
  });
  setInterval(() => { if (!document.hidden) look(); }, 2000);
  look();
})();
