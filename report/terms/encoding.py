"""Text in files: UTF-8, with errors fit for the user."""


def decoded(content: bytes) -> str:
    """Return the text of UTF-8 bytes.  Raises ValueError that names the first fault."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        reason = f"byte 0x{byte:02x} at offset {error.start} is not UTF-8"
        raise ValueError(reason) from None
