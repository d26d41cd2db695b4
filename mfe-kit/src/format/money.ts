import { kitTexts } from '../language/kit-texts';

const kes = new Intl.NumberFormat('en-KE', {
  style: 'currency',
  currency: 'KES',
  currencyDisplay: 'code',
  maximumFractionDigits: 0,
});

/**
 * An amount of KES as 'KES 25,000' (REQ-001), with an ordinary space so that find-in-page finds it; 'N/A' when it can't
 * be read.
 */
export function formatMoney(amount: number | null): string {
  return amount === null ? kitTexts().missing : kes.format(amount).replace(/\s/g, ' ');
}
