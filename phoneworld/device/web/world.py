"""The script that watches a page from an isolated world: the page's own scripts do not see it.

It does what Android does around web content and headless Chromium does not: it keeps the native popups of `select` and date
fields from opening (they would be in no picture) and reports them, says which field has the focus, and holds the caret
still for a picture. It reports through the binding `phoneworldReport`, in the frame where something happened.
"""

from __future__ import annotations

import json

WORLD = "phoneworld"
BINDING = "phoneworldReport"

SCRIPT = r"""
(() => {
  if (globalThis.phoneworld) return;
  const PICKERS = ['date', 'time', 'datetime-local', 'month', 'week', 'color'];
  const TYPED = ['text', 'search', 'url', 'tel', 'email', 'password', 'number', ''];
  const ids = new WeakMap();
  let nextId = 1, pressed = null, open = null;

  const hasPopup = (e) => (e instanceof HTMLSelectElement && !e.multiple && e.size <= 1 && !e.disabled) ||
    (e instanceof HTMLInputElement && PICKERS.includes(e.type) && !e.disabled && !e.readOnly);
  const takesText = (e) => {
    if (!e || (e.getAttribute && e.getAttribute('inputmode') === 'none')) return false;
    if (e instanceof HTMLTextAreaElement) return !e.readOnly && !e.disabled;
    if (e instanceof HTMLInputElement) return !e.readOnly && !e.disabled && TYPED.includes(e.type);
    return !!e.isContentEditable;
  };
  const report = (message) => globalThis.phoneworldReport(JSON.stringify(message));

  function announce(e) {
    open = e;
    if (e instanceof HTMLSelectElement) {
      const options = [...e.options].map((o) => ({
        text: o.label || o.text, enabled: !o.disabled && !(o.parentElement && o.parentElement.disabled),
      }));
      report({kind: 'select', options, selected: e.selectedIndex});
    } else {
      report({kind: e.type, value: e.value, min: e.min || '', max: e.max || ''});
    }
  }
  const inPath = (event, test) => event.composedPath().find((e) => e instanceof Element && test(e));

  addEventListener('mousedown', (event) => {
    if (!event.isTrusted) return;
    pressed = inPath(event, hasPopup) || null;
    if (pressed) { event.preventDefault(); pressed.focus(); }
  }, true);
  addEventListener('click', (event) => {
    if (!event.isTrusted) return;
    if (inPath(event, takesText)) report({kind: 'field'});
    const target = inPath(event, hasPopup);
    if (target && target === pressed) { event.preventDefault(); announce(target); }
    pressed = null;
  }, true);
  addEventListener('phoneworld-show-picker', (event) => {
    event.stopImmediatePropagation();
    const target = inPath(event, hasPopup);
    if (target) announce(target);
  }, true);
  addEventListener('keydown', (event) => {
    const target = event.isTrusted && inPath(event, hasPopup);
    if (target && (event.key === ' ' || event.key === 'Enter')) { event.preventDefault(); announce(target); }
  }, true);

  function active() {
    let root = document, e = null;
    while (root) {
      e = root.activeElement;
      if (!e) break;
      if (e.shadowRoot && e.shadowRoot.activeElement) { root = e.shadowRoot; continue; }
      let inner = null;
      if (e instanceof HTMLIFrameElement) { try { inner = e.contentDocument; } catch (_) { inner = null; } }
      if (!inner) break;
      root = inner;
    }
    return e;
  }
  function isEditable(e) {
    // An element of an iframe has that frame's constructors: judge by its own window.
    if (!e) return false;
    const w = e.ownerDocument.defaultView;
    if (!w || w === window) return takesText(e);
    if (e.getAttribute('inputmode') === 'none') return false;
    if (e instanceof w.HTMLTextAreaElement) return !e.readOnly && !e.disabled;
    if (e instanceof w.HTMLInputElement) return !e.readOnly && !e.disabled && TYPED.includes(e.type);
    return !!e.isContentEditable;
  }
  // A link to a mini-app opens the mini-app beside this page, not in it.
  if (self === top && globalThis.navigation) navigation.addEventListener('navigate', (event) => {
    const url = event.destination.url;
    if (!event.cancelable || event.destination.sameDocument || !globalThis.phoneworld.links.some((link) => url.startsWith(link))) return;
    event.preventDefault();
    report({kind: 'mini', url});
  });
  const selection = (e) => e.ownerDocument.defaultView.getSelection();
  let still = null;

  globalThis.phoneworld = {
    focus() {
      const e = active();
      if (!isEditable(e)) return {id: 0, document: performance.timeOrigin};
      if (!ids.has(e)) ids.set(e, nextId++);
      return {id: ids.get(e), document: performance.timeOrigin};
    },
    reveal() {
      const e = active();
      if (isEditable(e)) e.scrollIntoViewIfNeeded(true);
      return innerHeight;
    },
    selectAll() {
      const e = active();
      if (!isEditable(e)) return false;
      if (e.isContentEditable) selection(e).selectAllChildren(e); else e.select();
      return true;
    },
    caretToEnd() {
      const e = active();
      if (isEditable(e)) selection(e).modify('move', 'forward', 'documentboundary');
    },
    contextMenu(x, y) {
      let e = document.elementFromPoint(x, y);
      while (e && e.shadowRoot && e.shadowRoot.elementFromPoint(x, y) && e.shadowRoot.elementFromPoint(x, y) !== e) {
        e = e.shadowRoot.elementFromPoint(x, y);
      }
      if (!e) return;
      e.dispatchEvent(new PointerEvent('contextmenu', {
        bubbles: true, cancelable: true, composed: true, clientX: x, clientY: y, button: 0, pointerType: 'touch', view: window,
      }));
    },
    choose(index) {
      if (!open) return;
      const changed = open.selectedIndex !== index;
      open.selectedIndex = index;
      this.changed(changed);
    },
    fill(value) {
      if (!open) return;
      const changed = open.value !== value;
      open.value = value;
      this.changed(changed);
    },
    changed(really) {
      const e = open;
      open = null;
      if (!really) return;
      e.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
      e.dispatchEvent(new Event('change', {bubbles: true}));
    },
    holdCaret() {
      const e = active();
      if (!isEditable(e) || still) return;
      const own = e.ownerDocument;
      const sheet = new own.defaultView.CSSStyleSheet();
      sheet.replaceSync('* { caret-animation: manual !important; }');
      own.adoptedStyleSheets.push(sheet);
      still = () => { own.adoptedStyleSheets = own.adoptedStyleSheets.filter((s) => s !== sheet); };
    },
    releaseCaret() {
      if (still) still();
      still = null;
    },
    links: [],
  };
})();
"""


GIVE_FILE = r"""function (name, type, content) {
  const taken = new DataTransfer();
  taken.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name, {type}));
  this.files = taken.files;
  this.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
}"""


SHOW_PICKER = r"""
(() => {
  // Runs among the page's own scripts: a popup that a page opens itself is drawn by us as well. An input of another kind keeps its own.
  const kinds = ['date', 'time', 'datetime-local', 'month', 'week', 'color'];
  for (const type of [HTMLInputElement, HTMLSelectElement]) {
    const own = type.prototype.showPicker;
    if (!own) continue;
    type.prototype.showPicker = function showPicker() {
      if (this instanceof HTMLInputElement && !kinds.includes(this.type)) return own.call(this);
      if (this.disabled || this.readOnly) throw new DOMException('The element is immutable.', 'InvalidStateError');
      if (!navigator.userActivation.isActive) throw new DOMException('A user gesture is required.', 'NotAllowedError');
      this.dispatchEvent(new CustomEvent('phoneworld-show-picker', {bubbles: true, composed: true}));
    };
  }
})();
"""


def links_script(urls: tuple[str, ...]) -> str:
    """What to run after `SCRIPT`, so that links that begin with one of these URLs are reported and not followed."""
    return f"globalThis.phoneworld.links = {json.dumps(urls)};" if urls else ""


_MULBERRY = r"""
(() => {
  let a = SEED >>> 0;
  Math.random = () => {
    a = (a + 0x6D2B79F5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
})();
"""


def seeded_random(seed: int) -> str:
    """A page script that makes `Math.random` repeat: mulberry32 from a seed, anew in each document."""
    return _MULBERRY.replace("SEED", str(seed & 0xFFFFFFFF))
