// The page as a tool's body sees it: `document`, `window`, `localStorage`, `fetch` and the rest,
// written against two functions of the host. Runs before the body, in the same global scope.
//
//   document.querySelector('#a').textContent
//     └ operate('dom.query', '#a') ─▶ {$element: 7} ─▶ operate('dom.text', {$element: 7})
//
// Nothing here holds a right: the host looks up the capability of every operation. So a body that
// replaces or digs out parts of this file gains nothing.
//
// Elements are wrappers around a reference, one per reference. What a page has and tools do not is
// in `LACKING`, which the crate `script` lists, and fails with its name.
(() => {
  const { operate, operateLater, wait, LACKING } = globalThis.toolwright;
  delete globalThis.toolwright;

  const lacking = (what, advice) => {
    throw new Error('`' + what + '` is not available to tools' + (advice ? ': ' + advice : ''));
  };
  const NAVIGATE = 'a person or the tool `open` of the browser opens pages';
  const HELP = {
    addEventListener: 'a tool ends with its call; wait with `btcp.dom.observe`',
    assign: NAVIGATE,
    replace: NAVIGATE,
    reload: NAVIGATE,
    indexedDB: 'use `btcp.storage.indexed`',
    insertAdjacentHTML: 'set `innerHTML`, which is sanitised',
    setInterval: 'use `setTimeout`',
    childNodes: 'use `children` and `textContent`',
    attachShadow: 'read open roots with `shadowRoot`',
  };
  // `owner.name` throws. A prototype gets the names that it does not have itself.
  const defineLacking = (owner, kind) => {
    for (const name of LACKING[kind]) {
      if (name in owner) continue;
      const fail = () => lacking(kind + '.' + name, HELP[name]);
      Object.defineProperty(owner, name, { get: fail, set: fail, configurable: true });
    }
  };
  // Setting `onclick` and the like would need a listener in the page.
  const isHandler = (name) => typeof name === 'string' && /^on[a-z]+$/.test(name);

  const text = (value) => (value === null || value === undefined ? '' : String(value));
  const kebab = (name) => name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
  const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  const quoted = (value) =>
    '"' + String(value).replace(/["\\]/g, '\\$&').replace(/[\n\r\f]/g, (c) =>
      '\\' + c.charCodeAt(0).toString(16) + ' ') + '"';
  const escapeIdentifier = (value) =>
    String(value).replace(/^[0-9]|^-(?=[0-9]|$)|[^\w\u0080-\uffff-]/g, (c, at) =>
      /[0-9]/.test(c) && at < 2 ? '\\3' + c + ' ' : '\\' + c);
  globalThis.CSS = { escape: escapeIdentifier };

  class NodeList extends Array {
    static get [Symbol.species]() { return Array; }
    item(index) { return this[index] ?? null; }
    namedItem(name) {
      return this.find((it) => it.id === name || it.getAttribute('name') === name) ?? null;
    }
  }
  const listOf = (items) => NodeList.from(items ?? [], wrap);

  const wrappers = new Map();
  const wrap = (reference) => {
    if (reference === null || reference === undefined) return null;
    const known = wrappers.get(reference.$element);
    if (known) return known;
    const made = new HTMLElement(reference, OWN);
    wrappers.set(reference.$element, made);
    return made;
  };
  const OWN = Symbol('own');

  class EventTarget {
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('`dispatchEvent` takes an `Event`');
      return operate('dom.dispatch', targetOf(this), event.type, event.init) !== false;
    }
  }
  const targetOf = (it) => {
    if (it instanceof Element) return it;
    if (it === document || it === globalThis || it === window) return 'html';
    throw new TypeError('an element is needed');
  };
  class Node extends EventTarget {}
  // What a text becomes in `append`.
  class Text extends Node {
    constructor(data = '') {
      super();
      this.$text = String(data);
    }
    get textContent() { return this.$text; }
    get data() { return this.$text; }
    get nodeType() { return 3; }
    get nodeName() { return '#text'; }
  }
  const child = (it) => (it instanceof Node ? it : new Text(text(it)));

  class Element extends Node {
    constructor(reference, own) {
      super();
      if (own !== OWN) throw new TypeError('Illegal constructor');
      this.$element = reference.$element;
    }

    querySelector(selector) { return wrap(operate('dom.query', String(selector), this)); }
    querySelectorAll(selector) { return listOf(operate('dom.queryAll', String(selector), this)); }
    getElementsByTagName(name) { return this.querySelectorAll(name); }
    getElementsByClassName(names) { return this.querySelectorAll(classSelector(names)); }
    closest(selector) { return wrap(operate('dom.relative', this, 'closest', String(selector))); }
    matches(selector) { return operate('dom.matches', this, String(selector)); }
    contains(other) { return other instanceof Element && operate('dom.contains', this, other); }

    get parentElement() { return wrap(operate('dom.relative', this, 'parent')); }
    get parentNode() { return this.parentElement ?? (this.tagName === 'HTML' ? document : null); }
    get children() { return listOf(operate('dom.relative', this, 'children')); }
    get childElementCount() { return this.children.length; }
    get firstElementChild() { return wrap(operate('dom.relative', this, 'first')); }
    get lastElementChild() { return wrap(operate('dom.relative', this, 'last')); }
    get nextElementSibling() { return wrap(operate('dom.relative', this, 'next')); }
    get previousElementSibling() { return wrap(operate('dom.relative', this, 'previous')); }
    hasChildNodes() { return this.textContent !== '' || this.children.length > 0; }
    get isConnected() { return document.documentElement.contains(this); }
    get nodeType() { return 1; }
    get nodeName() { return this.tagName; }
    get localName() { return this.tagName.toLowerCase(); }
    get shadowRoot() { return wrap(operate('dom.shadow', this)); }

    get textContent() { return operate('dom.text', this); }
    set textContent(value) { operate('dom.setText', this, text(value)); }
    get innerText() { return operate('dom.text', this, true); }
    set innerText(value) { operate('dom.setText', this, text(value)); }
    get outerText() { return this.innerText; }
    get innerHTML() { return operate('dom.html', this); }
    set innerHTML(markup) { operate('dom.setHTML', this, text(markup)); }
    setHTML(markup) { operate('dom.setHTML', this, text(markup)); }
    get outerHTML() { return operate('dom.html', this, true); }
    set outerHTML(_) { lacking('element.outerHTML = …', 'set `innerHTML` of its parent'); }

    getAttribute(name) { return operate('dom.attribute', this, String(name)); }
    hasAttribute(name) { return this.getAttribute(name) !== null; }
    setAttribute(name, value) { operate('dom.setAttribute', this, String(name), String(value)); }
    removeAttribute(name) { operate('dom.removeAttribute', this, String(name)); }
    toggleAttribute(name, force) {
      const on = force ?? !this.hasAttribute(name);
      if (on) this.setAttribute(name, '');
      else this.removeAttribute(name);
      return on;
    }
    getAttributeNames() { return Object.keys(operate('dom.attributes', this)); }
    hasAttributes() { return this.getAttributeNames().length > 0; }
    get attributes() {
      const all = Object.entries(operate('dom.attributes', this));
      const list = NodeList.from(all, ([name, value]) => ({ name, value }));
      list.getNamedItem = (name) => list.find((it) => it.name === name) ?? null;
      return list;
    }
    get className() { return text(this.getAttribute('class')); }
    set className(names) { this.setAttribute('class', names); }
    get classList() { return new ClassList(this); }
    set classList(names) { this.className = names; }
    get dataset() { return datasetOf(this); }
    get style() { return inlineStyle(this); }
    set style(css) { this.style.cssText = css; }

    get value() {
      const value = operate('dom.value', this);
      return Array.isArray(value) ? value[0] ?? '' : value;
    }
    set value(value) { operate('dom.setValue', this, text(value)); }
    get checked() { return operate('dom.property', this, 'checked'); }
    set checked(on) { operate('dom.setChecked', this, Boolean(on)); }
    get options() { return this.querySelectorAll('option'); }
    get selectedOptions() { return this.options.filter((option) => option.selected); }
    get selectedIndex() { return operate('dom.property', this, 'selectedIndex'); }
    set selectedIndex(index) {
      const option = this.options[index];
      if (option) this.value = option.value;
    }
    get selected() { return operate('dom.property', this, 'selected'); }
    set selected(on) { operate('dom.setChecked', this, Boolean(on)); }
    get text() { return this.textContent.trim(); }
    get index() { return this.closest('select')?.options.indexOf(this) ?? -1; }
    get length() { return this.tagName === 'FORM' ? this.elements.length : this.options.length; }
    get elements() {
      return this.querySelectorAll('button, fieldset, input, object, output, select, textarea');
    }
    get labels() {
      const own = this.closest('label');
      const id = this.id;
      const by = id ? document.querySelectorAll('label[for=' + quoted(id) + ']') : new NodeList();
      return own && !by.includes(own) ? NodeList.from([own, ...by]) : by;
    }
    get control() {
      const id = this.getAttribute('for');
      return id ? document.getElementById(id) : this.querySelector('input, select, textarea');
    }
    get ariaLabel() { return this.getAttribute('aria-label'); }
    get htmlFor() { return text(this.getAttribute('for')); }
    get rows() {
      if (this.tagName === 'TEXTAREA') return Number(this.getAttribute('rows') ?? 2);
      const own = this.tagName === 'TABLE' ? ':scope > * > tr, :scope > tr' : ':scope > tr';
      return this.querySelectorAll(own);
    }
    get cells() { return this.querySelectorAll(':scope > td, :scope > th'); }
    get tHead() { return this.querySelector(':scope > thead'); }
    get tBodies() { return this.querySelectorAll(':scope > tbody'); }
    get tFoot() { return this.querySelector(':scope > tfoot'); }
    get caption() { return this.querySelector(':scope > caption'); }
    get rowIndex() { return this.closest('table')?.rows.indexOf(this) ?? -1; }
    get cellIndex() { return this.parentElement?.cells.indexOf(this) ?? -1; }
    get colSpan() { return Number(this.getAttribute('colspan') ?? 1); }
    get rowSpan() { return Number(this.getAttribute('rowspan') ?? 1); }

    getBoundingClientRect() {
      const { x, y, width, height } = operate('dom.rect', this);
      return { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height };
    }
    checkVisibility() {
      const { width, height } = this.getBoundingClientRect();
      return width > 0 && height > 0 && getComputedStyle(this).visibility === 'visible';
    }

    click() { operate('dom.click', this); }
    focus() { operate('dom.focus', this, true); }
    blur() { operate('dom.focus', this, false); }
    submit() { operate('dom.submit', this); }
    requestSubmit() { operate('dom.submit', this); }
    scrollIntoView() { operate('dom.scroll', this); }

    appendChild(node) { return operate('dom.append', this, child(node)), node; }
    append(...nodes) { for (const node of nodes) this.appendChild(child(node)); }
    insertBefore(node, before) {
      operate('dom.append', this, child(node), before ?? null);
      return node;
    }
    prepend(...nodes) {
      const first = this.firstElementChild;
      for (const node of nodes) this.insertBefore(node, first);
    }
    before(...nodes) { for (const node of nodes) this.parentElement.insertBefore(node, this); }
    after(...nodes) {
      const [parent, next] = [this.parentElement, this.nextElementSibling];
      for (const node of nodes) parent.insertBefore(node, next);
    }
    replaceWith(...nodes) {
      this.before(...nodes);
      this.remove();
    }
    replaceChildren(...nodes) {
      this.textContent = '';
      this.append(...nodes);
    }
    replaceChild(node, old) {
      this.insertBefore(node, old);
      return this.removeChild(old);
    }
    removeChild(node) { return node.remove(), node; }
    remove() { operate('dom.remove', this); }
    insertAdjacentElement(where, element) {
      if (where === 'beforebegin') this.before(element);
      else if (where === 'afterbegin') this.prepend(element);
      else if (where === 'beforeend') this.append(element);
      else this.after(element);
      return element;
    }
    insertAdjacentText(where, data) { this.insertAdjacentElement(where, new Text(data)); }
  }
  class HTMLElement extends Element {}

  // Properties that are read from the page, and those that are an attribute when they are set.
  const READ = `id tagName name type disabled readOnly required multiple placeholder title alt href
    src min max step pattern maxLength minLength defaultValue defaultChecked hidden open lang dir
    tabIndex action method target rel download accept autocomplete isContentEditable
    contentEditable willValidate validationMessage naturalWidth naturalHeight complete
    offsetWidth offsetHeight offsetTop offsetLeft clientWidth clientHeight scrollWidth
    scrollHeight scrollTop scrollLeft currentSrc indeterminate draggable role`;
  const BOOLEAN = /^(disabled|readOnly|required|multiple|hidden|open)$/;
  const READ_ONLY = /^(tagName|will|validation|natural|complete|offset|client|scroll|current|isC)/;
  for (const name of READ.split(/\s+/)) {
    const attribute = name.toLowerCase();
    Object.defineProperty(Element.prototype, name, {
      get() { return operate('dom.property', this, name); },
      set: READ_ONLY.test(name) ? undefined : function set(value) {
        if (BOOLEAN.test(name)) this.toggleAttribute(attribute, Boolean(value));
        else this.setAttribute(attribute, value);
      },
      configurable: true,
    });
  }
  defineLacking(Element.prototype, 'element');
  for (const name of ['click', 'change', 'input', 'submit', 'load', 'error', 'focus', 'blur']) {
    const set = () => lacking('element.on' + name, HELP.addEventListener);
    Object.defineProperty(Element.prototype, 'on' + name, { get: () => null, set });
  }

  const classSelector = (names) =>
    text(names).trim().split(/\s+/).map((name) => '.' + escapeIdentifier(name)).join('');

  class ClassList {
    #element;
    constructor(element) { this.#element = element; }
    get value() { return this.#element.className; }
    #names() { return this.value.split(/\s+/).filter(Boolean); }
    get length() { return this.#names().length; }
    item(index) { return this.#names()[index] ?? null; }
    contains(name) { return this.#names().includes(String(name)); }
    add(...names) { for (const name of names) operate('dom.setClass', this.#element, name, true); }
    remove(...names) {
      for (const name of names) operate('dom.setClass', this.#element, name, false);
    }
    toggle(name, force) {
      const on = force ?? !this.contains(name);
      operate('dom.setClass', this.#element, String(name), Boolean(on));
      return Boolean(on);
    }
    replace(old, name) {
      if (!this.contains(old)) return false;
      this.remove(old);
      this.add(name);
      return true;
    }
    forEach(each) { this.#names().forEach((name, index) => each(name, index, this)); }
    [Symbol.iterator]() { return this.#names()[Symbol.iterator](); }
    toString() { return this.value; }
    toJSON() { return this.#names(); }
  }

  const datasetOf = (element) => {
    const name = (key) => 'data-' + kebab(key);
    return new Proxy({}, {
      get: (_, key) => (typeof key === 'string' ? element.getAttribute(name(key)) ?? undefined
        : undefined),
      set: (_, key, value) => (element.setAttribute(name(key), value), true),
      has: (_, key) => typeof key === 'string' && element.hasAttribute(name(key)),
      deleteProperty: (_, key) => (element.removeAttribute(name(key)), true),
      ownKeys: () => element.getAttributeNames().filter((it) => it.startsWith('data-'))
        .map((it) => camel(it.slice(5))),
      getOwnPropertyDescriptor: (_, key) => ({
        value: element.getAttribute(name(key)),
        enumerable: true,
        configurable: true,
        writable: true,
      }),
    });
  };

  const declarations = (css) => {
    const found = new Map();
    for (const part of text(css).split(';')) {
      const colon = part.indexOf(':');
      if (colon > 0) found.set(part.slice(0, colon).trim(), part.slice(colon + 1).trim());
    }
    return found;
  };
  const styleOf = (read, write) => new Proxy({}, {
    get(_, key) {
      if (typeof key !== 'string') return undefined;
      if (key === 'getPropertyValue') return (name) => read(name);
      if (key === 'setProperty') return (name, value) => write(name, text(value));
      if (key === 'removeProperty') return (name) => write(name, '');
      if (key === 'toJSON') return undefined;
      return key === 'cssFloat' ? read('float') : read(kebab(key));
    },
    set: (_, key, value) => (write(kebab(key), text(value)), true),
  });
  const inlineStyle = (element) => styleOf(
    (name) => (name === 'css-text' ? text(element.getAttribute('style'))
      : declarations(element.getAttribute('style')).get(name) ?? ''),
    (name, value) => {
      if (name !== 'css-text') return operate('dom.setStyle', element, name, value);
      element.removeAttribute('style');
      for (const [own, given] of declarations(value)) operate('dom.setStyle', element, own, given);
      return undefined;
    },
  );
  globalThis.getComputedStyle = (element) => styleOf(
    (name) => operate('dom.style', element, name),
    () => lacking('getComputedStyle(…) = …', 'set `style` of the element'),
  );

  const page = () => operate('dom.page');
  const parts = (address) => {
    const found = /^([a-z][a-z0-9+.-]*:)(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(address);
    const [, protocol = '', host = '', path = '', search = '', hash = ''] = found ?? [];
    const bare = host.replace(/^.*@/, '');
    const [, hostname = bare, port = ''] = /^(.*?)(?::(\d+))?$/.exec(bare) ?? [];
    const pathname = host && !path ? '/' : path;
    const origin = host ? protocol + '//' + bare : 'null';
    return { protocol, host: bare, hostname, port, pathname, search, hash, origin };
  };
  const location = {
    get href() { return page().url; },
    set href(_) { lacking('location.href = …', NAVIGATE); },
    toString() { return page().url; },
    toJSON() { return page().url; },
  };
  for (const name of ['protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash',
    'origin']) {
    const set = () => lacking('location.' + name + ' = …', NAVIGATE);
    Object.defineProperty(location, name, { get: () => parts(page().url)[name], set });
  }
  defineLacking(location, 'location');

  class Document extends Node {
    querySelector(selector) { return wrap(operate('dom.query', String(selector))); }
    querySelectorAll(selector) { return listOf(operate('dom.queryAll', String(selector))); }
    getElementById(id) { return this.querySelector('[id=' + quoted(id) + ']'); }
    getElementsByTagName(name) { return this.querySelectorAll(name); }
    getElementsByClassName(names) { return this.querySelectorAll(classSelector(names)); }
    getElementsByName(name) { return this.querySelectorAll('[name=' + quoted(name) + ']'); }
    contains(other) { return this.documentElement.contains(other); }
    get documentElement() { return this.querySelector('html'); }
    get body() { return this.querySelector('body'); }
    get head() { return this.querySelector('head'); }
    get children() { return listOf([this.documentElement]); }
    get forms() { return this.querySelectorAll('form'); }
    get links() { return this.querySelectorAll('a[href], area[href]'); }
    get images() { return this.querySelectorAll('img'); }
    get scripts() { return this.querySelectorAll('script'); }
    get activeElement() { return wrap(operate('dom.active')); }
    get title() { return page().title; }
    set title(_) { lacking('document.title = …', 'set `textContent` of the `title` element'); }
    get URL() { return page().url; }
    get documentURI() { return page().url; }
    get baseURI() { return page().url; }
    get referrer() { return page().referrer; }
    get readyState() { return page().readyState; }
    get location() { return location; }
    set location(_) { lacking('document.location = …', NAVIGATE); }
    get defaultView() { return window; }
    get nodeType() { return 9; }
    get nodeName() { return '#document'; }
    get textContent() { return null; }
    get cookie() { return operate('storage.cookie.get'); }
    set cookie(cookie) { operate('storage.cookie.set', String(cookie)); }
    createElement(tag) { return wrap(operate('dom.create', String(tag))); }
    createTextNode(data) { return new Text(data); }
    get visibilityState() { return 'visible'; }
    get hidden() { return false; }
    hasFocus() { return true; }
    toJSON() { return { title: this.title, url: this.URL }; }
  }
  defineLacking(Document.prototype, 'document');
  const document = new Document();

  const storage = (kind) => {
    const at = (verb) => 'storage.' + kind + '.' + verb;
    const keys = () => operate(at('keys'));
    const own = {
      getItem: (key) => operate(at('get'), String(key)),
      setItem: (key, value) => void operate(at('set'), String(key), String(value)),
      removeItem: (key) => void operate(at('remove'), String(key)),
      clear: () => void operate(at('remove')),
      key: (index) => keys()[index] ?? null,
    };
    return new Proxy(own, {
      get: (_, key) => {
        if (typeof key !== 'string') return undefined;
        if (key === 'length') return keys().length;
        return own[key] ?? (key === 'toJSON' ? undefined : own.getItem(key) ?? undefined);
      },
      set: (_, key, value) => (own.setItem(key, value), true),
      has: (_, key) => key in own || keys().includes(key),
      deleteProperty: (_, key) => (own.removeItem(key), true),
      ownKeys: () => keys(),
      getOwnPropertyDescriptor: (_, key) => {
        const value = own.getItem(key);
        return value === null ? undefined
          : { value, enumerable: true, configurable: true, writable: true };
      },
    });
  };

  class Headers {
    #all = new Map();
    constructor(init) {
      const entries = init instanceof Headers || Array.isArray(init) ? [...init]
        : Object.entries(init ?? {});
      for (const [name, value] of entries) this.append(name, value);
    }
    append(name, value) {
      const [key, old] = [String(name).toLowerCase(), this.get(name)];
      this.#all.set(key, old === null ? String(value) : old + ', ' + value);
    }
    set(name, value) { this.#all.set(String(name).toLowerCase(), String(value)); }
    get(name) { return this.#all.get(String(name).toLowerCase()) ?? null; }
    has(name) { return this.#all.has(String(name).toLowerCase()); }
    delete(name) { this.#all.delete(String(name).toLowerCase()); }
    forEach(each) { this.#all.forEach((value, name) => each(value, name, this)); }
    keys() { return this.#all.keys(); }
    values() { return this.#all.values(); }
    entries() { return this.#all.entries(); }
    [Symbol.iterator]() { return this.#all.entries(); }
    toJSON() { return Object.fromEntries(this.#all); }
  }
  class Response {
    #text;
    constructor(answer) {
      this.#text = text(answer.text);
      this.status = answer.status;
      this.statusText = text(answer.statusText);
      this.ok = answer.status >= 200 && answer.status < 300;
      this.url = answer.url;
      this.redirected = Boolean(answer.redirected);
      this.type = 'basic';
      this.headers = new Headers(answer.headers);
    }
    async text() { return this.#text; }
    async json() { return JSON.parse(this.#text); }
  }
  for (const name of ['blob', 'arrayBuffer', 'formData', 'bytes', 'body']) {
    const get = () => lacking('response.' + name, 'use `text()` or `json()`');
    Object.defineProperty(Response.prototype, name, { get });
  }
  class URLSearchParams {
    #all = [];
    constructor(init) {
      const decode = (part) => decodeURIComponent(part.replace(/\+/g, ' '));
      if (typeof init === 'string') {
        for (const pair of init.replace(/^\?/, '').split('&').filter(Boolean)) {
          const at = pair.indexOf('=');
          const cut = at < 0 ? pair.length : at;
          this.#all.push([decode(pair.slice(0, cut)), decode(pair.slice(cut + 1))]);
        }
      } else {
        const entries = init?.[Symbol.iterator] ? [...init] : Object.entries(init ?? {});
        this.#all = entries.map(([name, value]) => [String(name), String(value)]);
      }
    }
    get(name) { return this.#all.find(([own]) => own === name)?.[1] ?? null; }
    getAll(name) { return this.#all.filter(([own]) => own === name).map(([, value]) => value); }
    has(name) { return this.#all.some(([own]) => own === name); }
    append(name, value) { this.#all.push([String(name), String(value)]); }
    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }
    delete(name) { this.#all = this.#all.filter(([own]) => own !== name); }
    forEach(each) { this.#all.forEach(([name, value]) => each(value, name, this)); }
    keys() { return this.#all.map(([name]) => name)[Symbol.iterator](); }
    values() { return this.#all.map(([, value]) => value)[Symbol.iterator](); }
    entries() { return this.#all[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    get size() { return this.#all.length; }
    toString() {
      const encode = (part) => encodeURIComponent(part).replace(/%20/g, '+');
      return this.#all.map(([name, value]) => encode(name) + '=' + encode(value)).join('&');
    }
  }
  const fetch = async (address, init = {}) => {
    const { method, headers, body, credentials, mode, cache, redirect } = init ?? {};
    if (body !== undefined && body !== null && typeof body !== 'string'
      && !(body instanceof URLSearchParams)) {
      lacking('a body of `fetch` that is not a text', 'use `JSON.stringify`');
    }
    const given = new Headers(headers);
    if (body instanceof URLSearchParams && !given.has('content-type')) {
      given.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    }
    const options = { headers: given.toJSON() };
    for (const [name, value] of Object.entries({ method, credentials, mode, cache, redirect })) {
      if (value !== undefined) options[name] = String(value);
    }
    if (body !== undefined && body !== null) options.body = String(body);
    return new Response(await operateLater('fetch', String(address?.href ?? address), options));
  };

  class Event {
    constructor(type, init) {
      if (type === undefined) throw new TypeError('an event has a type');
      this.type = String(type);
      Object.assign(this, init ?? {});
      this.bubbles = Boolean(init?.bubbles);
      this.cancelable = Boolean(init?.cancelable);
      this.composed = Boolean(init?.composed);
      const { bubbles, cancelable, composed } = this;
      this.init = { ...(init ?? {}), bubbles, cancelable, composed };
      this.defaultPrevented = false;
    }
  }
  const events = { Event };
  for (const name of ['UIEvent', 'CustomEvent', 'MouseEvent', 'PointerEvent', 'KeyboardEvent',
    'InputEvent', 'FocusEvent', 'SubmitEvent', 'WheelEvent']) {
    events[name] = { [name]: class extends Event {} }[name];
  }

  let timers = 0;
  const cleared = new Set();
  const setTimeout = (run, milliseconds, ...given) => {
    const id = ++timers;
    wait(Math.max(0, Number(milliseconds) || 0)).then(() => {
      if (!cleared.delete(id)) run(...given);
    });
    return id;
  };
  const clearTimeout = (id) => void cleared.add(id);

  const navigator = {
    clipboard: {
      readText: () => operateLater('clipboard.read'),
      writeText: (data) => operateLater('clipboard.write', text(data)).then(() => undefined),
    },
    get language() { return page().language; },
    get languages() { return [page().language]; },
    onLine: true,
    cookieEnabled: true,
    webdriver: true,
  };
  const only = (own, name) => new Proxy(own, {
    get: (_, key) => (typeof key !== 'string' || key in own || key === 'toJSON' || key === 'then'
      ? own[key] : lacking(name + '.' + key)),
  });

  const LACKING_WINDOW = new Set(LACKING.window);
  const viewport = { innerWidth: 'width', innerHeight: 'height', scrollX: 'scrollX',
    scrollY: 'scrollY', pageXOffset: 'scrollX', pageYOffset: 'scrollY' };
  const window = new Proxy(globalThis, {
    get: (own, key) => {
      if (key in own) return own[key];
      if (LACKING_WINDOW.has(key)) return lacking('window.' + key, HELP[key]);
      return key in viewport ? page()[viewport[key]] : undefined;
    },
    set: (own, key, value) => {
      if (key === 'location') lacking('window.location = …', NAVIGATE);
      if (isHandler(key)) lacking('window.' + key, HELP.addEventListener);
      own[key] = value;
      return true;
    },
  });

  const globals = {
    document, window, self: window, location, navigator: only(navigator, 'navigator'), fetch,
    localStorage: storage('local'), sessionStorage: storage('session'), setTimeout, clearTimeout,
    EventTarget, Node, Text, Element, HTMLElement, Document, NodeList, HTMLCollection: NodeList,
    Headers, Response, URLSearchParams, ...events,
    ...Object.fromEntries(['Input', 'Select', 'TextArea', 'Form', 'Table', 'Button', 'Anchor',
      'Image'].map((kind) => {
      const tag = { Anchor: 'a', Image: 'img' }[kind] ?? kind.toLowerCase();
      const is = (it) => it instanceof Element && it.localName === tag;
      return ['HTML' + kind + 'Element', Object.defineProperty(class extends HTMLElement {},
        Symbol.hasInstance, { value: is })];
    })),
  };
  for (const [name, value] of Object.entries(globals)) {
    const given = name === 'location'
      ? { get: () => location, set: () => lacking('location = …', NAVIGATE) }
      : { value, writable: true };
    Object.defineProperty(globalThis, name, { ...given, configurable: true });
  }
})();
