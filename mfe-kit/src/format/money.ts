const kes = new Intl.NumberFormat('en-KE', {
  style: 'currency',
  currency: 'KES',
  currencyDisplay: 'code',
  maximumFractionDigits: 0,
});

/** An amount of KES as 'KES 25,000' (REQ-001), with an ordinary space so that find-in-page finds it. */
export function formatMoney(amount: number): string {
  return kes.format(amount).replace(/\s/g, ' ');
}
