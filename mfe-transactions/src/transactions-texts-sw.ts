import { plural } from 'mfe-kit';
import type { TransactionsTexts } from './transactions-texts';

const swahili: TransactionsTexts = {
  title: 'Historia ya miamala',
  transactions: 'Miamala',
  export: 'Hamisha CSV',
  found: (count) =>
    plural(count, { one: `Muamala ${count} umepatikana`, other: `Miamala ${count} imepatikana` }),
  cannotBeRead: (count) =>
    plural(count, { one: `Safu ${count} haiwezi kusomwa`, other: `Safu ${count} haziwezi kusomwa` }),
  search: 'Tafuta miamala',
  searchPlaceholder: 'Tafuta miamala...',
  status: 'Hali',
  allStatuses: 'Hali zote',
  statuses: { success: 'Umefaulu', failed: 'Umeshindikana', pending: 'Unasubiri' },
  moreFilters: 'Vichujio zaidi',
  disbursedOn: 'Kutolewa',
  approver: 'Aliyeidhinisha',
  disburser: 'Aliyetoa',
  noneFound: 'Hakuna miamala iliyopatikana',
  adjustSearch: 'Jaribu kubadilisha utafutaji au vichujio',
  willAppear: 'Miamala itaonekana hapa mikopo itakapotolewa',
  customerName: 'Jina la mteja',
  idNumber: (id) => `Kitambulisho ${id}`,
  date: 'Tarehe ya kutolewa',
  amount: 'Kiasi',
  reference: 'Kumbukumbu',
  copyReference: (reference) => `Nakili kumbukumbu ${reference}`,
  missing: 'Hakuna',
  unreadable: 'Safu hii haikuweza kusomwa',
  approvedBy: 'Aliyeidhinisha',
  disbursedBy: 'Aliyetoa',
  supervisor: 'Msimamizi',
  agent: 'Wakala',
  notFetched: 'Miamala haikuweza kupatikana',
  notLoaded: 'Miamala haikuweza kupakiwa',
};

export default swahili;
