// The operations on a page. Runs in an isolated world: the page's scripts neither see it nor change
// the functions that it uses. Only names in the markup reach it: `<input name="textContent">` hides
// the property of its form, so properties are always read from the prototypes (`read`, `invoke`).
//
// Called as `broker('{"operation": …, "arguments": […], "origin": …, …}')`; returns JSON text,
// `{"value": …}` or `{"code": …, "message": …}`.
((brokerNetwork) => {
  "use strict";

  const MOST_REFERENCES = 10_000;
  const MOST_SCOPES = 100;
  const MOST_CHANGES = 100;
  const MOST_DEPTH = 64;

  class Failure {
    constructor(code, message) {
      this.code = code;
      this.message = message;
    }
  }

  function fail(code, message) {
    throw new Failure(code, message);
  }

  function cut(text) {
    const line = String(text);
    return line.length > 200 ? line.slice(0, 200) + "…" : line;
  }

  // Properties and methods of the prototypes, whatever the markup calls its elements.

  function descriptor(target, name) {
    for (let at = Object.getPrototypeOf(target); at; at = Object.getPrototypeOf(at)) {
      const found = Object.getOwnPropertyDescriptor(at, name);
      if (found) return found;
    }
    return undefined;
  }

  function read(target, name) {
    const found = descriptor(target, name);
    if (!found) return undefined;
    return found.get ? Reflect.apply(found.get, target, []) : found.value;
  }

  function write(target, name, value) {
    const set = descriptor(target, name)?.set;
    if (!set) fail("BadOperation", `this element has no \`${name}\``);
    Reflect.apply(set, target, [value]);
  }

  function invoke(target, name, ...values) {
    const found = descriptor(target, name)?.value;
    if (typeof found !== "function") fail("BadOperation", `this element has no \`${name}\``);
    return Reflect.apply(found, target, values);
  }

  // References to elements. Each call has its own, so that a call reaches only elements that it was
  // given. Numbers of other documents are never used again.

  let lastReference = 0;
  const scopes = new Map();
  // That of the operation that runs. One that goes on after a pause sets it again.
  let scope;

  function enterScope(name) {
    scope = scopes.get(name);
    if (scope) return;
    // Those of calls that were given up.
    if (scopes.size >= MOST_SCOPES) scopes.delete(scopes.keys().next().value);
    scope = { byReference: new Map(), references: new WeakMap() };
    scopes.set(name, scope);
  }

  function refer(element) {
    if (element === null || element === undefined) return null;
    let reference = scope.references.get(element);
    if (reference === undefined) {
      if (scope.byReference.size >= MOST_REFERENCES) {
        fail("TooLarge", `more than ${MOST_REFERENCES} elements are referred to; use a selector ` +
          "that matches fewer");
      }
      reference = ++lastReference;
      scope.byReference.set(reference, element);
      scope.references.set(element, reference);
    }
    return { $element: reference };
  }

  function select(root, selector) {
    return matching(selector, () => invoke(root, "querySelector", selector));
  }

  function matching(selector, search) {
    if (typeof selector !== "string") fail("BadOperation", "a selector is a text");
    try {
      return search();
    } catch (error) {
      if (error instanceof Failure) throw error;
      fail("BadOperation", `\`${cut(selector)}\` is not a valid selector`);
    }
  }

  function node(target) {
    if (typeof target === "string") {
      return select(document, target) ??
        fail("NoElement", `no element matches \`${cut(target)}\``);
    }
    if (target === null || typeof target !== "object" || !Number.isInteger(target.$element)) {
      fail("BadOperation", "a target is an element or a selector");
    }
    return scope.byReference.get(target.$element) ??
      fail("NoElement", "the element belonged to a page that is gone, or to another call");
  }

  function root(within) {
    return within === undefined || within === null ? document : node(within);
  }

  function text(value, what) {
    if (typeof value !== "string") fail("BadOperation", `${what} is a text`);
    return value;
  }

  // What may be written. Everything else could run code or send data elsewhere.

  // Their content or attributes are code, or load something.
  const CLOSED_ELEMENTS = new Set([
    "script", "style", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "meta",
    "link", "template", "noscript", "use", "image", "feimage", "animate", "animatemotion",
    "animatetransform", "set", "foreignobject", "portal", "fencedframe",
  ]);
  const ATTRIBUTES = new Set([
    "accept", "align", "alt", "autocapitalize", "autocomplete", "checked", "class", "cols",
    "colspan", "contenteditable", "controls", "datetime", "dir", "dirname", "disabled", "draggable",
    "enterkeyhint", "for", "headers", "height", "hidden", "high", "id", "inert", "inputmode",
    "label", "lang", "list", "loop", "low", "max", "maxlength", "min", "minlength", "multiple",
    "muted", "name", "novalidate", "open", "optimum", "part", "pattern", "placeholder", "popover",
    "readonly", "required", "reversed", "role", "rows", "rowspan", "scope", "selected", "size",
    "slot", "span", "spellcheck", "start", "step", "summary", "tabindex", "title", "translate",
    "type", "value", "width", "wrap",
  ]);
  // Values of these must be addresses of the page's own origin, on these elements. Not `src`,
  // `poster`, `action` and `formaction`: what loads or sends by itself is a request that a tool
  // chose, and a redirect of the site leads it anywhere.
  const ADDRESSES = {
    __proto__: null,
    href: ["a", "area"],
    cite: ["blockquote", "q", "ins", "del"],
  };
  const LOADING_ATTRIBUTES = ["src", "poster", "action", "formaction"];
  const NEW_ELEMENTS = (
    "a abbr address article aside b bdi bdo blockquote br button caption cite code col colgroup " +
    "data datalist dd del details dfn dialog div dl dt em fieldset figcaption figure footer " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins kbd label legend li main mark menu meter " +
    "nav ol optgroup option output p pre progress q rp rt ruby s samp search section select " +
    "small span strong sub summary sup table tbody td textarea tfoot th thead time tr u ul var wbr"
  ).split(" ");
  const LOADING_ELEMENTS = ["img", "input", "button"];
  const PROPERTIES = new Set([
    "accept", "action", "alt", "autocomplete", "checked", "childElementCount", "className",
    "clientHeight", "clientLeft", "clientTop", "clientWidth", "cols", "colSpan", "complete",
    "contentEditable", "currentSrc", "currentTime", "dateTime", "defaultChecked", "defaultValue",
    "dir", "disabled", "download", "draggable", "duration", "encoding", "ended", "enctype", "form",
    "hash", "height", "hidden", "high", "host", "hostname", "href", "htmlFor", "id",
    "indeterminate", "index", "innerText", "inputMode", "isConnected", "isContentEditable", "label",
    "lang", "length", "localName", "low", "max", "maxLength", "method", "min", "minLength",
    "multiple", "muted", "name", "namespaceURI", "naturalHeight", "naturalWidth", "noValidate",
    "nodeName", "nodeType", "offsetHeight", "offsetLeft", "offsetParent", "offsetTop",
    "offsetWidth", "open", "optimum", "origin", "outerText", "pathname", "pattern", "paused",
    "placeholder", "port", "poster", "protocol", "readOnly", "rel", "required", "role", "rowIndex",
    "rowSpan", "rows", "scope", "scrollHeight", "scrollLeft", "scrollTop", "scrollWidth", "search",
    "selected", "selectedIndex", "selectionEnd", "selectionStart", "shape", "size", "slot", "span",
    "spellcheck", "src", "start", "step", "tabIndex", "tagName", "target", "text", "textContent",
    "textLength", "title", "type", "validationMessage", "value", "valueAsNumber", "volume", "width",
    "willValidate", "wrap",
  ]);

  function kind(element) {
    return String(read(element, "localName") ?? "").toLowerCase();
  }

  function writable(target) {
    const element = node(target);
    // SVG has its own `script` and `style`, and the same goes for them.
    if (CLOSED_ELEMENTS.has(kind(element))) {
      fail("Refused", `\`${kind(element)}\` elements cannot be changed`);
    }
    return element;
  }

  function isOwnAddress(value) {
    try {
      const url = new URL(value, read(document, "baseURI"));
      return (url.protocol === "http:" || url.protocol === "https:") && url.origin === self.origin;
    } catch {
      return false;
    }
  }

  function checkAttribute(element, name) {
    const isPlain = ATTRIBUTES.has(name) || /^(aria|data)-[a-z0-9_.-]+$/.test(name);
    if (isPlain || ADDRESSES[name]?.includes(kind(element))) return;
    const help = name === "style" ? "; use dom.setStyle" : "";
    fail("Refused", `the attribute \`${cut(name)}\` of \`${kind(element)}\` cannot be set${help}`);
  }

  function setAttribute(element, name, value) {
    checkAttribute(element, name);
    if (name in ADDRESSES && !isOwnAddress(value)) {
      fail("Refused", `\`${name}\` can only be set to an address of the page's own origin`);
    }
    invoke(element, "setAttribute", name, value);
  }

  function setStyle(element, name, value) {
    if (!/^-{0,2}[a-zA-Z][a-zA-Z0-9-]*$/.test(name)) {
      fail("BadOperation", `\`${cut(name)}\` is not the name of a style`);
    }
    // A function that takes an address, or a way to spell one differently.
    if (/\\|@|url|src\s*\(|image|cross-fade|element\s*\(|paint\s*\(|attr\s*\(/i.test(value)) {
      fail("Refused", "styles with addresses cannot be set");
    }
    const style = read(element, "style") ?? fail("BadOperation", "this element has no style");
    const property = name.startsWith("--") ? name
      : name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
    if (value === "") invoke(style, "removeProperty", property);
    else invoke(style, "setProperty", property, value);
  }

  function setHTML(element, markup) {
    if (typeof Element.prototype.setHTML !== "function" || typeof Sanitizer !== "function") {
      fail("Refused", "this browser cannot sanitise markup; a newer Chromium can");
    }
    // First into an element outside the page, so that nothing is shown that is removed then.
    const box = invoke(document, "createElement", "div");
    const elements = NEW_ELEMENTS.filter((name) => !LOADING_ELEMENTS.includes(name));
    const attributes = [...ATTRIBUTES, "href"].filter((name) => name !== "popover");
    const sanitizer = new Sanitizer({ elements, attributes, dataAttributes: true });
    Element.prototype.setHTML.call(box, markup, { sanitizer });
    for (const link of invoke(box, "querySelectorAll", "[href]")) {
      if (!isOwnAddress(invoke(link, "getAttribute", "href"))) {
        invoke(link, "removeAttribute", "href");
      }
    }
    invoke(element, "replaceChildren", ...read(box, "childNodes"));
  }

  // Forms and events.

  function notify(element, ...types) {
    for (const type of types) {
      const init = { bubbles: true, composed: true };
      const event = type === "input" ? new InputEvent(type, init) : new Event(type, init);
      invoke(element, "dispatchEvent", event);
    }
  }

  function setValue(element, value) {
    const type = String(read(element, "type") ?? "");
    switch (kind(element)) {
      case "select":
        write(element, "value", value);
        if (read(element, "value") !== value) {
          fail("Refused", `the list has no option with the value \`${cut(value)}\``);
        }
        break;
      case "input":
        if (type === "file") fail("Refused", "files cannot be chosen");
        if (type === "checkbox" || type === "radio") {
          fail("BadOperation", "this is a box to tick; use dom.setChecked");
        }
        write(element, "value", value);
        break;
      case "textarea":
        write(element, "value", value);
        break;
      default:
        if (!read(element, "isContentEditable")) {
          fail("BadOperation", `a \`${kind(element)}\` is not a form field`);
        }
        write(element, "textContent", value);
    }
    notify(element, "input", "change");
  }

  const EVENT_OPTIONS = new Set([
    "bubbles", "cancelable", "composed", "key", "code", "location", "repeat", "ctrlKey", "shiftKey",
    "altKey", "metaKey", "button", "buttons", "clientX", "clientY", "screenX", "screenY",
    "movementX", "movementY", "deltaX", "deltaY", "data", "inputType", "isComposing", "pointerId",
    "pointerType", "isPrimary", "detail",
  ]);

  function eventOf(type, options) {
    const init = { bubbles: true, cancelable: true, composed: true };
    for (const [name, value] of Object.entries(options ?? {})) {
      if (EVENT_OPTIONS.has(name)) init[name] = value;
    }
    if (/^(click|dblclick|contextmenu|auxclick|mouse)/.test(type)) return new MouseEvent(type, init);
    if (/^pointer/.test(type)) return new PointerEvent(type, init);
    if (/^key/.test(type)) return new KeyboardEvent(type, init);
    if (/^wheel/.test(type)) return new WheelEvent(type, init);
    if (/^(before)?input$/.test(type)) return new InputEvent(type, init);
    if (/^(focus|blur)/.test(type)) return new FocusEvent(type, init);
    return "detail" in init ? new CustomEvent(type, init) : new Event(type, init);
  }

  // Waiting.

  function afterChanges(target, options, milliseconds, look) {
    return new Promise((done, failed) => {
      const finish = (result) => {
        observer.disconnect();
        clearTimeout(timer);
        done(result);
      };
      const observer = new MutationObserver((records) => {
        try {
          const result = look(records);
          if (result !== undefined) finish(result);
        } catch (error) {
          observer.disconnect();
          clearTimeout(timer);
          failed(error);
        }
      });
      const timer = setTimeout(() => finish(null), milliseconds);
      observer.observe(target, options);
    });
  }

  function change(record) {
    const elements = (nodes) => [...nodes].filter((one) => read(one, "nodeType") === 1).map(refer);
    const element = read(record.target, "nodeType") === 1
      ? record.target : read(record.target, "parentElement");
    return {
      type: record.type,
      target: refer(element),
      attribute: record.attributeName,
      added: elements(record.addedNodes),
      removed: record.removedNodes.length,
    };
  }

  // Storage.

  function keysOf(storage) {
    const count = read(storage, "length");
    return Array.from({ length: count }, (_, index) => invoke(storage, "key", index));
  }

  function removeFrom(storage, key) {
    if (key === undefined || key === null) invoke(storage, "clear");
    else invoke(storage, "removeItem", text(key, "a key"));
  }

  function settled(request) {
    return new Promise((done, failed) => {
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
  }

  async function database(name) {
    const request = indexedDB.open(text(name, "the name of a database"));
    let isNew = false;
    // Opening a database that does not exist would make it.
    request.onupgradeneeded = () => {
      isNew = true;
      request.transaction.abort();
    };
    try {
      return await settled(request);
    } catch (error) {
      if (isNew) fail("Refused", `there is no database \`${cut(name)}\``);
      throw error;
    }
  }

  async function inStore(name, store, mode, work) {
    const opened = await database(name);
    try {
      if (!opened.objectStoreNames.contains(text(store, "the name of a store"))) {
        fail("Refused", `the database \`${cut(name)}\` has no store \`${cut(store)}\``);
      }
      const transaction = opened.transaction(store, mode);
      const ended = new Promise((done, failed) => {
        transaction.oncomplete = done;
        transaction.onabort = () => failed(transaction.error);
      });
      const result = await work(transaction.objectStore(store));
      await ended;
      return result;
    } finally {
      opened.close();
    }
  }

  const { send, exchange } = brokerNetwork({ fail, text, cut, Failure });

  // Tools of the page (WebMCP): the interface of today, or that for tests of Chromium 148.

  async function pageTools() {
    const context = read(document, "modelContext");
    if (typeof context?.getTools === "function") {
      const all = await context.getTools();
      return all.filter((tool) => tool.window === undefined || tool.window === window);
    }
    return (navigator.modelContextTesting?.listTools() ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema ? JSON.parse(tool.inputSchema) : undefined,
    }));
  }

  async function callPageTool(name, input) {
    const tool = (await pageTools()).find((one) => one.name === name);
    if (!tool) fail("NoElement", `the page has no tool \`${cut(name)}\` any more`);
    const context = read(document, "modelContext");
    if (typeof context?.executeTool === "function") return context.executeTool(tool, input);
    return navigator.modelContextTesting.executeTool(name, JSON.stringify(input));
  }

  const OPERATIONS = {
    __proto__: null,

    "dom.page"() {
      return {
        title: read(document, "title"),
        url: location.href,
        referrer: read(document, "referrer"),
        readyState: read(document, "readyState"),
        language: read(document, "documentElement")?.lang ?? "",
        width: innerWidth,
        height: innerHeight,
        scrollX,
        scrollY,
      };
    },
    "dom.query"(selector, within) {
      return refer(select(root(within), selector));
    },
    "dom.queryAll"(selector, within) {
      const from = root(within);
      const all = matching(selector, () => invoke(from, "querySelectorAll", selector));
      return Array.from(all, refer);
    },
    "dom.text"(target, visible) {
      const element = node(target);
      return (visible ? read(element, "innerText") : undefined) ?? read(element, "textContent");
    },
    "dom.html"(target, outer) {
      return read(node(target), outer ? "outerHTML" : "innerHTML");
    },
    "dom.attribute"(target, name) {
      return invoke(node(target), "getAttribute", text(name, "a name"));
    },
    "dom.attributes"(target) {
      const element = node(target);
      const names = invoke(element, "getAttributeNames");
      return Object.fromEntries(
        names.map((name) => [name, invoke(element, "getAttribute", name)]),
      );
    },
    "dom.property"(target, name) {
      if (!PROPERTIES.has(name)) fail("BadOperation", `\`${cut(name)}\` cannot be read`);
      const value = read(node(target), name);
      return value instanceof Node ? refer(value) : value ?? null;
    },
    "dom.value"(target) {
      const element = node(target);
      if (kind(element) === "select" && read(element, "multiple")) {
        return Array.from(read(element, "selectedOptions"), (option) => read(option, "value"));
      }
      return read(element, "value") ?? null;
    },
    "dom.rect"(target) {
      const { x, y, width, height } = invoke(node(target), "getBoundingClientRect");
      return { x, y, width, height };
    },
    "dom.style"(target, name) {
      return getComputedStyle(node(target)).getPropertyValue(text(name, "a name"));
    },
    "dom.relative"(target, relation, selector) {
      const element = node(target);
      switch (relation) {
        case "parent": return refer(read(element, "parentElement"));
        case "children": return Array.from(read(element, "children"), refer);
        case "next": return refer(read(element, "nextElementSibling"));
        case "previous": return refer(read(element, "previousElementSibling"));
        case "first": return refer(read(element, "firstElementChild"));
        case "last": return refer(read(element, "lastElementChild"));
        case "closest":
          return refer(matching(selector, () => invoke(element, "closest", selector)));
        default: return fail("BadOperation", `there is no relation \`${cut(relation)}\``);
      }
    },
    "dom.matches"(target, selector) {
      const element = node(target);
      return matching(selector, () => invoke(element, "matches", selector));
    },
    "dom.contains"(target, other) {
      return invoke(node(target), "contains", node(other));
    },
    "dom.active"() {
      return refer(read(document, "activeElement"));
    },

    "dom.setText"(target, value) {
      write(writable(target), "textContent", text(value, "the content"));
    },
    "dom.setValue"(target, value) {
      setValue(writable(target), text(value, "a value"));
    },
    "dom.setChecked"(target, checked) {
      const element = writable(target);
      if (typeof checked !== "boolean") fail("BadOperation", "`checked` is true or false");
      if (kind(element) === "option") {
        write(element, "selected", checked);
        notify(invoke(element, "closest", "select") ?? element, "input", "change");
      } else {
        write(element, "checked", checked);
        notify(element, "input", "change");
      }
    },
    "dom.setHTML"(target, markup) {
      setHTML(writable(target), text(markup, "the markup"));
    },
    "dom.setAttribute"(target, name, value) {
      const lower = text(name, "a name").toLowerCase();
      setAttribute(writable(target), lower, text(value, "a value"));
    },
    "dom.removeAttribute"(target, name) {
      const element = writable(target);
      const lower = text(name, "a name").toLowerCase();
      // Taking an inline style or an address away sends nothing.
      const isSafe = lower === "style" || lower in ADDRESSES || LOADING_ATTRIBUTES.includes(lower);
      if (!isSafe) checkAttribute(element, lower);
      invoke(element, "removeAttribute", lower);
    },
    "dom.setClass"(target, name, present) {
      const list = read(writable(target), "classList");
      invoke(list, present === false ? "remove" : "add", text(name, "a class"));
    },
    "dom.setStyle"(target, name, value) {
      setStyle(writable(target), text(name, "a name"), text(value, "a value"));
    },
    "dom.create"(tag) {
      const name = text(tag, "a tag").toLowerCase();
      if (!NEW_ELEMENTS.includes(name)) {
        fail("Refused", `\`${cut(name)}\` elements cannot be created`);
      }
      return refer(invoke(document, "createElement", name));
    },
    "dom.append"(parent, child, before) {
      // A text, or an element.
      const moved = typeof child?.$text === "string"
        ? invoke(document, "createTextNode", child.$text) : writable(child);
      const into = writable(parent);
      const next = before === undefined || before === null ? null : node(before);
      invoke(into, "insertBefore", moved, next);
    },
    "dom.remove"(target) {
      invoke(node(target), "remove");
    },
    "dom.click"(target) {
      const element = node(target);
      if (read(element, "disabled") === true) fail("Refused", "the element is disabled");
      if (element instanceof HTMLElement) invoke(element, "click");
      else invoke(element, "dispatchEvent", eventOf("click"));
    },
    "dom.submit"(target) {
      const element = node(target);
      const form = kind(element) === "form" ? element : invoke(element, "closest", "form");
      if (!form) fail("BadOperation", "the element is not in a form");
      if (!read(form, "noValidate") && !invoke(form, "checkValidity")) {
        fail("Refused", "the form has fields that are missing or invalid");
      }
      invoke(form, "requestSubmit");
    },
    "dom.focus"(target, focused) {
      invoke(node(target), focused === false ? "blur" : "focus");
    },
    "dom.scroll"(target) {
      invoke(node(target), "scrollIntoView", { block: "center", behavior: "instant" });
    },
    "dom.dispatch"(target, event, options) {
      return invoke(node(target), "dispatchEvent", eventOf(text(event, "an event"), options));
    },

    async "dom.observe"(target, milliseconds, call) {
      const wanted = Number.isFinite(milliseconds) ? milliseconds : 1_000;
      const time = Math.max(0, Math.min(wanted, call.milliseconds));
      const kinds = { subtree: true, childList: true, attributes: true, characterData: true };
      const own = scope;
      const look = (records) => {
        scope = own;
        return records.slice(0, MOST_CHANGES).map(change);
      };
      return await afterChanges(node(target), kinds, time, look) ?? [];
    },
    "dom.shadow"(target) {
      return refer(read(node(target), "shadowRoot"));
    },

    "storage.local.get"(key) {
      return invoke(localStorage, "getItem", text(key, "a key"));
    },
    "storage.local.keys"() {
      return keysOf(localStorage);
    },
    "storage.local.set"(key, value) {
      invoke(localStorage, "setItem", text(key, "a key"), text(value, "a value"));
    },
    "storage.local.remove"(key) {
      removeFrom(localStorage, key);
    },
    "storage.session.get"(key) {
      return invoke(sessionStorage, "getItem", text(key, "a key"));
    },
    "storage.session.keys"() {
      return keysOf(sessionStorage);
    },
    "storage.session.set"(key, value) {
      invoke(sessionStorage, "setItem", text(key, "a key"), text(value, "a value"));
    },
    "storage.session.remove"(key) {
      removeFrom(sessionStorage, key);
    },
    async "storage.indexed.databases"() {
      const result = [];
      for (const { name, version } of await indexedDB.databases()) {
        const opened = await database(name);
        result.push({ name, version, stores: [...opened.objectStoreNames] });
        opened.close();
      }
      return result;
    },
    async "storage.indexed.get"(name, store, key) {
      const read = (from) => settled(from.get(key));
      return await inStore(name, store, "readonly", read) ?? null;
    },
    async "storage.indexed.all"(name, store, most) {
      const count = Number.isInteger(most) && most > 0 ? Math.min(most, 1_000) : 1_000;
      return inStore(name, store, "readonly", async (from) => {
        const [keys, values] = await Promise.all([
          settled(from.getAllKeys(null, count)),
          settled(from.getAll(null, count)),
        ]);
        return keys.map((key, index) => ({ key, value: values[index] }));
      });
    },
    async "storage.indexed.put"(name, store, value, key) {
      const put = (into) => settled(key === undefined || key === null
        ? into.put(value) : into.put(value, key));
      return inStore(name, store, "readwrite", put);
    },
    async "storage.indexed.remove"(name, store, key) {
      await inStore(name, store, "readwrite", (from) => settled(from.delete(key)));
    },
    "storage.cookie.get"() {
      return read(document, "cookie");
    },
    "storage.cookie.set"(cookie) {
      write(document, "cookie", text(cookie, "a cookie"));
    },
    async "clipboard.read"() {
      return navigator.clipboard.readText();
    },
    async "clipboard.write"(value) {
      await navigator.clipboard.writeText(text(value, "the content of the clipboard"));
    },
    async "fetch"(address, options, call) {
      return send(address, options, call);
    },
    async "websocket"(address, messages, options, call) {
      return exchange(address, messages, options, call);
    },
  };

  // What the crate itself asks for: not operations of tools.
  const REQUESTS = {
    __proto__: null,

    "page.origin": () => self.origin,
    "page.html": () => ({
      url: location.href,
      html: read(read(document, "documentElement"), "outerHTML"),
    }),
    "page.release": (name) => {
      scopes.delete(name);
    },
    "page.wait": (selector, milliseconds) => {
      const look = () => select(document, selector) ? true : undefined;
      const kinds = { subtree: true, childList: true, attributes: true };
      return look() ?? afterChanges(document, kinds, milliseconds, look);
    },
    "page.tools": async () => (await pageTools()).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    })),
    "page.callTool": (name, input) => callPageTool(name, input),
  };

  // Results: plain JSON of a bounded size, and without lone surrogates, which JSON readers refuse.

  function plain(value, budget, depth) {
    if (depth > MOST_DEPTH) fail("TooLarge", `the result has more than ${MOST_DEPTH} levels`);
    switch (typeof value) {
      case "string":
        budget.left -= value.length + 2;
        if (budget.left < 0) fail("TooLarge", `the result has more than ${budget.limit} characters`);
        return value.toWellFormed();
      case "number":
      case "boolean":
        budget.left -= 5;
        return value;
      case "bigint":
        return String(value);
      case "object":
        break;
      default:
        return null;
    }
    if (value === null) return null;
    budget.left -= 5;
    if (budget.left < 0) fail("TooLarge", `the result has more than ${budget.limit} characters`);
    if (Array.isArray(value)) return value.map((one) => plain(one, budget, depth + 1));
    if (value instanceof Date) return Number.isNaN(value.valueOf()) ? null : value.toISOString();
    if (value instanceof Map || value instanceof Set) {
      return Array.from(value, (one) => plain(one, budget, depth + 1));
    }
    const entries = Object.entries(value).map(([name, member]) =>
      [plain(name, budget, depth), plain(member, budget, depth + 1)]);
    return Object.fromEntries(entries);
  }

  async function answer(call) {
    if (call.origin !== null && self.origin !== call.origin) {
      fail("OtherOrigin", `the page is of \`${cut(self.origin)}\`, not of \`${cut(call.origin)}\``);
    }
    const work = OPERATIONS[call.operation] ?? REQUESTS[call.operation];
    if (!work) fail("BadOperation", `there is no operation \`${cut(call.operation)}\``);
    if (call.operation in OPERATIONS) enterScope(call.scope);
    // Those that take the call itself take it after the arguments that they name.
    const values = Array.from({ length: Math.max(work.length, 0) }, (_, at) => call.arguments[at]);
    if (TAKE_CALL.has(call.operation)) values[work.length - 1] = call;
    return Reflect.apply(work, undefined, values);
  }

  const TAKE_CALL = new Set(["fetch", "websocket", "dom.observe"]);

  globalThis.broker = async (message) => {
    const call = JSON.parse(message);
    try {
      const value = await answer(call);
      const budget = { limit: call.limit, left: call.limit };
      return JSON.stringify({ value: plain(value, budget, 0) });
    } catch (error) {
      const code = error instanceof Failure ? error.code : "Refused";
      const message = error instanceof Failure ? error.message
        : `${error?.name ?? "Error"}: ${error?.message ?? error}`;
      return JSON.stringify({ code, message: cut(message).toWellFormed() });
    }
  };
})(brokerNetwork);
