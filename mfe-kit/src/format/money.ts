const kes = new Intl.NumberFormat('en-KE', {
  style: 'currency',
  currency: 'KES',
  currencyDisplay: 'code',
  maximumFractionDigits: 0,
});

/** An amount of KES as 'KES 25,000' (REQ-001), with a plain space so that it can be searched for. */
export function formatMoney(amount: number): string {
  return kes.format(amount).replace(/\s/g, ' ');
}
