import type { ListTexts } from './list-texts';

const swahili: ListTexts = {
  shown: (from, to, total) => `Matokeo ${from} hadi ${to} kati ya ${total}`,
  rowsPerPage: 'Safu kwa ukurasa',
  perPage: (size) => `${size} kwa ukurasa`,
  pages: 'Kurasa',
  firstPage: 'Ukurasa wa kwanza',
  previousPage: 'Ukurasa uliotangulia',
  page: (page) => `Ukurasa ${page}`,
  nextPage: 'Ukurasa unaofuata',
  lastPage: 'Ukurasa wa mwisho',

  sortBy: 'Panga kwa',

  set: 'vimewekwa',
  clearAll: 'Ondoa vichujio',
  datesFrom: (dates) => `${dates} kuanzia`,
  datesTo: (dates) => `${dates} hadi`,
  dayIsBefore: 'Siku hii ni kabla ya siku ya kwanza.',
  amountFrom: 'Kiasi kuanzia',
  amountTo: 'Kiasi hadi',
  amountUnread: 'Weka kiasi cha KES nzima, kisichozidi 999,999,999.',
  amountIsBelow: 'Kiasi hiki ni chini ya kiasi cha kwanza.',
  anyone: 'Yeyote',
};

export default swahili;
