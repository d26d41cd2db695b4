import type { UiTexts } from './ui-texts';

const swahili: UiTexts = {
  loading: 'Inapakia',
  error: 'Hitilafu',
  retry: 'Jaribu tena',
  request: 'Ombi',
  copied: 'Imenakiliwa',
  toLight: 'Badili hadi mandhari meupe',
  toDark: 'Badili hadi mandhari meusi',
  noOptions: 'Hakuna data',
  ok: 'Sawa',
  cancel: 'Ghairi',
};

export default swahili;
