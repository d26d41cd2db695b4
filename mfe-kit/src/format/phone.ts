/** A Kenyan phone number in its local form: +254712345678 becomes 0712345678 (REQ-003). */
export function localPhone(phone: string): string {
  return /^\+254\d{9,}$/.test(phone) ? `0${phone.slice(-9)}` : phone;
}

/** A number grouped 4-4-rest for reading back: '0712 3456 78' (REQ-004). */
export function groupDigits(number: string): string {
  return [number.slice(0, 4), number.slice(4, 8), number.slice(8)].filter(Boolean).join(' ');
}
