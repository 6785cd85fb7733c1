// Requests and connections of the broker: a part of `broker.js`, which calls it with its helpers.
function brokerNetwork({ fail, text, cut, Failure }) {
  async function limitedText(response, limit) {
    if (!response.body) return "";
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let result = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return result + decoder.decode();
      result += decoder.decode(value, { stream: true });
      if (result.length > limit) {
        reader.cancel();
        fail("TooLarge", `the answer has more than ${limit} characters`);
      }
    }
  }

  function addressOf(address) {
    try {
      return new URL(text(address, "an address"), location.href);
    } catch (error) {
      if (error instanceof Failure) throw error;
      return fail("BadOperation", `\`${cut(address)}\` is not an address`);
    }
  }

  async function send(address, options, call) {
    const wanted = options ?? {};
    const url = addressOf(address);
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      fail("Refused", "only http and https addresses can be fetched");
    }
    const response = await fetch(url, {
      method: wanted.method ?? "GET",
      headers: Object.entries(wanted.headers ?? {}).map(([name, value]) => [name, String(value)]),
      body: wanted.body === undefined || wanted.body === null ? undefined
        : text(wanted.body, "the body of a request"),
      mode: call.isOwnAddress ? "same-origin" : "cors",
      credentials: call.isOwnAddress ? "same-origin" : "omit",
      redirect: call.isOwnAddress ? "error" : "follow",
      referrerPolicy: call.isOwnAddress ? "same-origin" : "no-referrer",
      signal: AbortSignal.timeout(call.milliseconds),
    });
    return {
      status: response.status,
      statusText: response.statusText,
      ok: response.ok,
      url: response.url,
      headers: Object.fromEntries(response.headers),
      text: await limitedText(response, call.limit),
    };
  }

  // Opens a connection, sends texts, and collects what comes until there is enough of it, the other
  // side closes or the time is up.
  function exchange(address, messages, options, call) {
    const url = addressOf(address);
    url.protocol = url.protocol.replace(/^http/, "ws");
    if (url.protocol !== "ws:" && url.protocol !== "wss:") {
      fail("Refused", "only ws and wss addresses can be connected to");
    }
    const own = new URL(url.href.replace(/^ws/, "http")).origin === self.origin;
    if (call.isOwnAddress && !own) fail("Refused", `\`${cut(url.origin)}\` is another origin`);
    const sent = (messages ?? []).map((message) => text(message, "a message"));
    const most = options?.answers ?? 1;
    const wanted = options?.milliseconds ?? 5_000;
    // A moment before the call ends, so that the page does not seem to hang.
    const time = Math.max(0, Math.min(wanted, call.milliseconds - 100));
    return new Promise((done, failed) => {
      const socket = new WebSocket(url);
      const received = [];
      let size = 0;
      const finish = (settle, value) => {
        clearTimeout(timer);
        socket.close();
        settle(value);
      };
      const timer = setTimeout(() => finish(done, received), time);
      socket.onopen = () => {
        for (const message of sent) socket.send(message);
        if (most <= 0) finish(done, received);
      };
      socket.onmessage = ({ data }) => {
        if (typeof data !== "string") {
          return finish(failed, new Failure("Refused", "the answer is not a text"));
        }
        size += data.length;
        if (size > call.limit) {
          const message = `the answers have more than ${call.limit} characters`;
          return finish(failed, new Failure("TooLarge", message));
        }
        received.push(data);
        return received.length >= most ? finish(done, received) : undefined;
      };
      socket.onerror = () =>
        finish(failed, new Failure("Refused", `no connection to \`${cut(url.href)}\``));
      socket.onclose = () => finish(done, received);
    });
  }

  return { send, exchange };
}
