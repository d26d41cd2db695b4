import { catalogue } from 'mfe-kit';

const english = {
  // Sign-in
  signIn: 'Sign in',
  signInText: 'Pay out approved loans.',
  email: 'Email',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  capsLock: 'Caps Lock is on.',
  rememberMe: 'Remember me',
  forgotPassword: 'Forgot password?',
  signingIn: 'Signing in...',
  signInByCode: 'Sign in with OTP',
  sendingOtp: 'Sending OTP...',
  welcome: (product: string) => `Login successful! Welcome back to ${product}!`,
  sessionExpired: 'Your session expired. Please log in again.',
  enterEmailFirst: 'Please enter your email address first',
  enterPasswordFirst: 'Please enter your password first',
  emailNotFound: 'Email not found.',
  passwordIncorrect: 'Incorrect password.',

  // Codes
  enterCode: 'Enter Verification Code',
  codeSentTo: (email: string) => `We sent a 6-digit code to ${email}.`,
  code: 'Verification Code',
  verify: 'Verify & Sign in',
  verifying: 'Verifying...',
  backToLogin: 'Back to Login',
  backAtLogin: 'Switched back to regular login',
  resend: 'Resend code',
  sending: 'Sending...',
  sendingCode: 'Sending verification code...',
  codeSent: 'Verification code sent! Please check your email.',
  checkPassword: 'Go back to login and check your password.',
  checkCode: 'Check the code, or have a new one sent.',
  demoCodes: 'Demo: codes arrive in the',
  outbox: 'outbox (opens in a new tab)',

  // A new password
  resetTitle: 'Reset your password',
  enterEmail: 'Enter your email',
  resetText: 'We will send a verification code to your phone.',
  resetCodeSentTo: (email: string) => `We sent a verification code to the phone tied to ${email}.`,
  pleaseEnterEmail: 'Please enter your email address',
  sendResetCode: 'Send Reset Code',
  sendingResetCodeNow: 'Sending Code...',
  sendingResetCode: 'Sending reset code...',
  resetCodeSent: 'Password reset code sent! Please check your SMS.',
  newPassword: 'New Password',
  newPasswordHint: 'At least 6 characters.',
  confirmPassword: 'Confirm New Password',
  noMatch: 'Passwords do not match',
  resetPassword: 'Reset Password',
  resettingNow: 'Resetting Password...',
  resetting: 'Resetting password...',
  reset: 'Password reset successful! You can now sign in with your new password.',
  backToEmail: 'Back to Email',
  backAtEmail: 'Switched back to email entry',
  pleaseEnterCode: 'Please enter the verification code',
  pleaseEnterPassword: 'Please enter your new password',
  passwordTooShort: 'Password must be at least 6 characters long',
  chooseAnother: 'Choose another password.',

  // Failures
  wrongEmail: 'Email not found. Please check your email address.',
  wrongPassword: 'Incorrect password. Please try again.',
  inactive: 'Your account is inactive. Please contact support.',
  loginFailed: 'Login failed. Please try again.',
  loginUnexpected: 'An unexpected error occurred. Please try again.',
  loginRefused: 'Login failed. Please check your credentials and try again.',
  otpFailed: 'OTP login failed',
  otpNotSent: 'Failed to send OTP',
  codeNotSent: 'Failed to send verification code. Please try again.',
  resetCodeNotSent: 'Failed to send reset code. Please try again.',
  notReset: 'Failed to reset password. Please try again.',
};

export type SignInTexts = typeof english;

/** The texts of the screens before sign-in. */
export const signInTexts = catalogue(english, { sw: () => import('./sign-in-texts-sw') });
