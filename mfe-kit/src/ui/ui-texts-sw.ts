import type { UiTexts } from './ui-texts';

const swahili: UiTexts = {
  loading: 'Inapakia',
  error: 'Hitilafu',
  retry: 'Jaribu tena',
  outdated: 'Taarifa hizi hazikuweza kusomwa tena na huenda zimepitwa na wakati.',
  request: 'Ombi',
  copied: 'Imenakiliwa',
  notCopied: 'Haikuweza kunakiliwa',
  toLight: 'Badili hadi mandhari meupe',
  toDark: 'Badili hadi mandhari meusi',
  noOptions: 'Hakuna data',
  ok: 'Sawa',
  cancel: 'Ghairi',
};

export default swahili;
