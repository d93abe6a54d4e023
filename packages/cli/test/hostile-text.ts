/** Texts that would write to the clipboard, make a link, change the colour and the direction, and overwrite the line. */
export const hostileKey =
  'x\u001b]52;c;aGk=\u0007\u001b]8;;http://evil.example\u001b\\\u001b[38;5;99m\r\u009b31m\u202e\u2066\u007f\u0085y';
/** With a lone surrogate too, which no property of a schema can have. */
export const hostile = `${hostileKey}\u0000\ud800`;
