import type { ReportsTexts } from './reports-texts';

const swahili: ReportsTexts = {
  title: 'Ripoti',
  export: 'Pakua ripoti',
  period: 'Kipindi',
  type: 'Aina ya ripoti',
  periods: {
    today: 'Leo',
    week: 'Wiki hii',
    month: 'Mwezi huu',
    quarter: 'Robo hii ya mwaka',
    year: 'Mwaka huu',
  },
  types: { disbursements: 'Utoaji wa mikopo', transactions: 'Miamala', performance: 'Utendaji' },
  span: (from, to, beforeFrom, beforeTo) =>
    `${from} hadi ${to}, ikilinganishwa na ${beforeFrom} hadi ${beforeTo}`,
  totalDisbursed: 'Jumla iliyotolewa',
  totalTransactions: 'Jumla ya miamala',
  averageDisbursement: 'Wastani wa malipo',
  successRate: 'Kiwango cha mafanikio',
  points: (points) => `Alama ${points}`,
  noComparison: 'Hakuna cha kulinganisha',
  none: 'Hakuna',
  trends: 'Mwenendo wa utoaji',
  unit: 'Kipimo',
  units: { hour: 'Kwa saa', day: 'Kwa siku', week: 'Kwa wiki', month: 'Kwa mwezi' },
  weekOf: (day) => `Wiki ya ${day}`,
  bar: { hour: 'Saa', day: 'Siku', week: 'Wiki', month: 'Mwezi' },
  barShown: {
    hour: 'Saa inayoonyeshwa juu',
    day: 'Siku inayoonyeshwa juu',
    week: 'Wiki inayoonyeshwa juu',
    month: 'Mwezi unaoonyeshwa juu',
  },
  measures: {
    disbursements: 'Kiasi kwa KES kulingana na matokeo',
    transactions: 'Malipo kulingana na matokeo',
    performance: 'Asilimia ya malipo yaliyokamilika au kushindikana',
  },
  completed: 'Yamefaulu',
  failed: 'Yamefeli',
  pending: 'Yanasubiri',
  total: 'Jumla',
  empty: 'Hakuna malipo katika kipindi hiki',
  latest: {
    disbursements: 'Mikopo iliyotolewa karibuni',
    transactions: 'Miamala ya karibuni',
    performance: 'Malipo yaliyoshindikana karibuni',
  },
  noLatest: 'Hakuna chochote katika kipindi hiki',
  columns: { date: 'Tarehe', transaction: 'Muamala', amount: 'Kiasi', status: 'Hali', agent: 'Wakala' },
  disbursement: 'Utoaji wa mkopo',
  unknownAgent: 'Wakala',
  failedToLoad: 'Ripoti haikuweza kupakiwa',
};

export default swahili;
