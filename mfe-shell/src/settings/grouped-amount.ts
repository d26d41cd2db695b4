import { formatMoney } from 'mfe-kit';

/** An amount as the portal writes it, without its currency: '100,000'. Any other text is returned as it is. */
export function groupedAmount(text: string): string {
  const amount = wholeNumberIn(text);
  return Number.isSafeInteger(amount) ? formatMoney(amount).replace('KES ', '') : text;
}

/** The whole number in a text, which may have separators: '100,000'; `NaN` if there is none. */
export function wholeNumberIn(text: string): number {
  const digits = text.replaceAll(/[\s,]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : NaN;
}
