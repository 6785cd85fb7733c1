"""A client of the official Python SDK that reads commands from standard input, one word per line.

    lasting_client.py MODE URL PREFIX

`echo` and `long` call a tool of server-everything, whose name may have a prefix, `reconnect` is a
new connection in the same process, `end` ends. Each is answered by a line of JSON: the text of the
result, or the error.
"""

import asyncio
import json
import logging
import sys
import threading

from mcp import Client

MODE, URL, PREFIX = sys.argv[1:4]
CALLS = {
    "echo": (f"{PREFIX}echo", {"message": "here"}),
    "long": (f"{PREFIX}trigger-long-running-operation", {"duration": 2, "steps": 4}),
}


def answer(**words):
    print(json.dumps(words), flush=True)


async def obey(client, words):
    """Runs commands until `reconnect` or `end`. Returns whether to reconnect."""
    while (word := await words.get()) in CALLS:
        try:
            result = await asyncio.wait_for(client.call_tool(*CALLS[word]), 15)
            answer(**{"error" if result.is_error else "text": result.content[0].text})
        except Exception as error:
            answer(error=str(error) or repr(error))
        except asyncio.CancelledError:
            # The SDK has given up the connection.
            answer(error="the connection was given up")
            raise
    return word == "reconnect"


async def without_connection(words):
    """Fails until another connection is wanted. Returns whether one is."""
    while (word := await words.get()) in CALLS:
        answer(error="not connected")
    return word == "reconnect"


async def main():
    words, loop = asyncio.Queue(), asyncio.get_running_loop()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(words.put_nowait, line.strip())
        loop.call_soon_threadsafe(words.put_nowait, "end")

    threading.Thread(target=read, daemon=True).start()
    goes_on = True
    while goes_on:
        goes_on = is_connected = has_ended = False
        try:
            async with Client(URL, mode=MODE, read_timeout_seconds=15) as client:
                is_connected = True
                answer(text=client.protocol_version)
                goes_on = await obey(client, words)
                has_ended = True
        except Exception as error:
            if not is_connected:
                answer(error=str(error) or repr(error))
            # Closing a connection that is gone may fail.
            if not has_ended:
                goes_on = await without_connection(words)


logging.disable()
asyncio.run(main())
