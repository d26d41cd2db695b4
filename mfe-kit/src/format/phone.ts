/** A number without what stands between its digits: blanks, dashes, brackets, and characters that nobody sees. */
export function bareNumber(number: string): string {
  return number.replaceAll(/[\s\p{Cf}\p{Pd}().]/gu, '');
}

/**
 * A Kenyan phone number in its local form: +254712345678 becomes 0712345678 (REQ-003), however it is grouped, and also
 * without the leading 0 that a number in JSON loses. Others stay as they are.
 */
export function localPhone(phone: string): string {
  const bare = bareNumber(phone);
  return /^(\+254\d{9,}|254\d{9}|0\d{9}|[17]\d{8})$/.test(bare) ? `0${bare.slice(-9)}` : phone;
}

/** A phone number as it is sent: without the characters that nobody sees, which come with pasted text. */
export function sentPhone(phone: string): string {
  return phone.replaceAll(/[\p{Cf}\u00a0\u2007\u202f]/gu, '').trim();
}

/** A number grouped 4-4-rest for reading back: '0712 3456 78' (REQ-004). */
export function groupDigits(number: string): string {
  return [number.slice(0, 4), number.slice(4, 8), number.slice(8)].filter(Boolean).join(' ');
}
