"""A network between the client and the service that loses answers and requests."""

import httpx

#: One for all tests: each takes a tenth of a second to make.
HTTP = httpx.HTTPTransport()


class Network(httpx.BaseTransport, httpx.AsyncBaseTransport):
    def __init__(self) -> None:
        #: Operations whose answers are lost.
        self.deaf: set[str] = set()
        #: Operations that do not arrive.
        self.away: set[str] = set()
        #: Operations that arrive twice, and are answered as the second time.
        self.doubled: set[str] = set()
        #: Operations that fail in the service (500), or that a proxy answers with this status.
        self.pages: dict[str, int] = {}
        #: This many answers are lost, of any kind.
        self.losses = 0
        #: This many have not arrived.
        self.missed = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        operation = request.url.path.rsplit("/", 1)[-1]
        if operation in self.away:
            self.missed += 1
            raise httpx.ConnectError("no route")
        if operation in self.pages:
            status = self.pages[operation]
            body = {"code": "internal", "status": status, "detail": "It failed."}
            kind = "application/problem+json" if status == 500 else "text/html"
            return httpx.Response(status, json=body, headers={"retry-after": "60", "content-type": kind})
        if operation in self.doubled:
            HTTP.handle_request(request).read()
        answer = HTTP.handle_request(request)
        content = answer.read()
        if operation in self.deaf or self.losses > 0:
            self.losses -= 1
            raise httpx.ReadError("cut off")
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)
