"""Images of the home by their content: what is once there never changes."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Request, Response

from dokimasia.datasets.images import image_format
from dokimasia.service.problems import Refused
from dokimasia.service.routes.answering import NEVER_RUN, json_router
from dokimasia.service.state import Reader, TheService

router = json_router("images")

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
SHA256 = r"^[0-9a-f]{64}$"


@router.get(
    "/images/{sha256}",
    response_class=Response,
    responses={
        200: {"description": "the image", "content": {one: {} for one in TYPES.values()}},
        304: {"description": "the image is known already"},
    },
)
def image(
    service: TheService,
    person: Reader,
    request: Request,
    sha256: Annotated[str, Path(pattern=SHA256, description="The SHA-256 of its bytes.")],
) -> Response:
    """Return an image that lies in the home."""
    blobs = service.home.blobs
    if not blobs.file(sha256).is_file():
        raise Refused(HTTPStatus.NOT_FOUND, f"the home has no image {sha256}")
    tag = f'"{sha256}"'
    headers = {**NEVER_RUN, "cache-control": "private, max-age=31536000, immutable", "etag": tag}
    if tag in {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    data = blobs.get(sha256)
    return Response(data, media_type=TYPES[image_format(data) or "PNG"], headers=headers)
