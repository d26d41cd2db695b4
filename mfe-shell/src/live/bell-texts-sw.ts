import { formatNumber, plural } from 'mfe-kit';
import type { BellTexts } from './bell-texts';

const swahili: BellTexts = {
  heading: 'Arifa',
  unread: (count) =>
    plural(count, { one: 'Arifa, 1 haijasomwa', other: `Arifa, ${formatNumber(count)} hazijasomwa` }),
  arrived: (count) =>
    plural(count, { one: 'Arifa 1 haijasomwa', other: `Arifa ${formatNumber(count)} hazijasomwa` }),
  unreadMark: 'Haijasomwa',
  failuresOnly: (count) => `Zilizoshindikana (${count})`,
  markAllRead: 'Weka zote kuwa zimesomwa',
  notMarked: 'Arifa hazikuweza kuwekwa kuwa zimesomwa.',
  loansApproved: (count) => `Mikopo ${formatNumber(count)} imeidhinishwa`,
  allReady: 'Iko tayari kutolewa.',
  empty: 'Hakuna kilichotokea katika siku 7 zilizopita.',
  failed: 'Arifa hazikuweza kupakiwa.',
  retry: 'Jaribu tena',
  newVersion: 'Toleo jipya linapatikana',
  newVersionText: 'Pakia ukurasa upya ili ulitumie.',
  reload: 'Pakia upya',
  payout_completed: 'Malipo yamekamilika',
  payout_failed: 'Malipo yameshindikana',
  loan_approved: 'Mkopo umeidhinishwa',
  paid: (amount, customer) => `${customer} amelipwa ${amount}.`,
  notPaid: (amount, customer) => `${customer} hakulipwa ${amount}.`,
  ready: (amount, customer) => `${amount} za ${customer} ziko tayari kulipwa.`,
};

export default swahili;
