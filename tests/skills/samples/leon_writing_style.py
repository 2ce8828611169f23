"""What the scripted agent reports for leon-writing-style."""

VALUES: dict[str, list[str]] = {"purpose.keep": []}
