const swahili: Readonly<Record<string, string>> = {
  Dashboard: 'Dashibodi',
  'Loan Details': 'Maelezo ya mkopo',
  'My Profile': 'Wasifu wangu',
  'Opening the sandbox': 'Inafungua sandbox',
  'Pending Disbursements': 'Mikopo inayosubiri kutolewa',
  'Pending Loans': 'Mikopo inayosubiri',
  Reports: 'Ripoti',
  'Reset password': 'Weka nenosiri jipya',
  Settings: 'Mipangilio',
  'Sign in': 'Ingia',
  'Transaction History': 'Historia ya miamala',
  Transactions: 'Miamala',
  "The loans can't be shown. Payouts that were started go on. Try again in a minute; the other parts still work.":
    'Mikopo haiwezi kuonyeshwa. Malipo yaliyoanzishwa yanaendelea. Jaribu tena baada ya dakika moja; sehemu nyingine bado zinafanya kazi.',
};

export default swahili;
