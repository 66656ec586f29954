// The gallery: opens phones and lists the open ones.
'use strict';
(() => {
  const trouble = document.getElementById('trouble');
  const rows = document.getElementById('sessions');

  async function ask(path, options) {
    const answer = await fetch(path, options);
    if (answer.status === 204) return null;
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.hint ? `${json.message} (${json.hint})` : json.message);
    return json;
  }
  function report(error) { trouble.textContent = error ? error.message : ''; trouble.hidden = !error; }
  function cell(row, text, kind) { const td = row.insertCell(); td.textContent = text; if (kind) td.className = kind; return td; }

  for (const button of document.querySelectorAll('[data-open]')) {
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        const body = JSON.stringify({ bundles: [button.dataset.open] });
        const session = await ask('/api/sessions', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        location.href = `/sessions/${session.id}`;
      } catch (error) { report(error); button.disabled = false; }
    });
  }

  async function list() {
    const sessions = await ask('/api/sessions');
    document.querySelector('.open').hidden = !sessions.length;
    rows.replaceChildren();
    for (const session of sessions) {
      const row = rows.insertRow();
      const link = document.createElement('a');
      link.href = `/sessions/${session.id}`;
      link.textContent = session.id;
      cell(row, '', 'mono').append(link);
      cell(row, session.bundles.join(', '));
      cell(row, session.screen, 'mono');
      cell(row, session.steps, 'number');
      cell(row, session.seed, 'number');
      cell(row, `${Math.round(session.idle_s)} s`, 'number');
      const close = document.createElement('button');
      close.textContent = 'Close';
      close.addEventListener('click', () => ask(`/api/sessions/${session.id}`, { method: 'DELETE' }).then(list).catch(report));
      cell(row, '').append(close);
    }
  }
  list().catch(report);
  setInterval(() => { if (!document.hidden) list().catch(report); }, 4000);
})();
