import type { AdviceTexts } from './advice-texts';

const swahili: AdviceTexts = {
  floatShort: 'Akaunti ya malipo haina pesa za kutosha. Mwombe msimamizi aongeze pesa, kisha ujaribu tena.',
  belowMinimum: 'Pesa kwa simu hailipi kiasi kidogo hivi. Muulize msimamizi jinsi ya kutoa mkopo huu.',
  aboveMaximum: 'Pesa kwa simu hailipi kiasi hiki kwa mara moja. Muulize msimamizi jinsi ya kutoa mkopo huu.',
  dailyLimit: 'Kikomo cha leo kimefikiwa. Jaribu tena kesho.',
  walletFull: 'Akaunti ya pesa kwa simu ya mteja haiwezi kupokea kiasi hiki. Mwombe mteja apunguze salio.',
  ownAccount: 'Pesa kwa simu haipokei malipo kutoka kwetu. Mjulishe msimamizi; kujaribu tena hakusaidii.',
  noWallet: 'Nambari hii haina akaunti ya pesa kwa simu. Ihakikishe na mteja.',
};

export default swahili;
