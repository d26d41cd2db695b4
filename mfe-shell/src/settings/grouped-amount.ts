import { formatMoney, wholeNumberIn } from 'mfe-kit';

/** An amount as the portal writes it, without its currency: '100,000'. Any other text is returned as it is. */
export function groupedAmount(text: string): string {
  const amount = wholeNumberIn(text);
  return Number.isSafeInteger(amount) ? formatMoney(amount).replace('KES ', '') : text;
}
