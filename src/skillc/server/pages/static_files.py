"""Send static files. Their names have digests, so browsers keep them."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.server.pages.assets import Asset

_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def routes(assets: Mapping[str, Asset]) -> list[BaseRoute]:
    by_name = {asset.name: asset for asset in assets.values()}

    async def send(request: Request) -> Response:
        asset = by_name.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404)
        return Response(asset.data, 200, _HEADERS, asset.type)

    return [Route("/static/{name}", send, methods=["GET"])]
