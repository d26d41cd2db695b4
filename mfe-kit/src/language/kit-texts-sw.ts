import type { KitTexts } from './kit-texts';
import { plural } from './language';

const swahili: KitTexts = {
  missing: 'Hakuna',
  justNow: 'Hivi sasa',
  yesterday: 'Jana',
  ago: {
    second: (count) =>
      plural(count, { one: `Sekunde ${count} iliyopita`, other: `Sekunde ${count} zilizopita` }),
    minute: (count) =>
      plural(count, { one: `Dakika ${count} iliyopita`, other: `Dakika ${count} zilizopita` }),
    hour: (count) => plural(count, { one: `Saa ${count} iliyopita`, other: `Saa ${count} zilizopita` }),
    day: (count) => plural(count, { one: `Siku ${count} iliyopita`, other: `Siku ${count} zilizopita` }),
    week: (count) => plural(count, { one: `Wiki ${count} iliyopita`, other: `Wiki ${count} zilizopita` }),
    month: (count) => plural(count, { one: `Mwezi ${count} uliopita`, other: `Miezi ${count} iliyopita` }),
    year: (count) => plural(count, { one: `Mwaka ${count} uliopita`, other: `Miaka ${count} iliyopita` }),
  },
  user: 'Mtumiaji',
  sessionExpired: 'Kipindi chako kimekwisha. Tafadhali ingia tena.',
};

export default swahili;
