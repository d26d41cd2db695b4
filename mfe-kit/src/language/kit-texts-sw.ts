import type { KitTexts } from './kit-texts';

const swahili: KitTexts = {
  missing: 'Hakuna',
  justNow: 'Hivi sasa',
  yesterday: 'Jana',
  user: 'Mtumiaji',
  sessionExpired: 'Kipindi chako kimekwisha. Tafadhali ingia tena.',
};

export default swahili;
