import type { Action } from './actions.ts'
/**
 * Actions that change no rule, key, organization or limit. After any other, what nodes keep of these is read again, which is
 * slower but never wrong.
 */
export const routineActions: readonly Action[] = [
  'createApproval',
  'decideApproval',
  'withdrawApproval',
  'expireApproval',
  'clearApprovals',
  'createEnrollment',
  'registerDevice',
  'openSession',
  'confirmSession',
  'closeSession',
  'renameOwnDevice',
  'denyRequests',
  'reportRequest',
  'createDeviceLink',
  'sendDeviceCode',
  'subscribePush',
  'unsubscribePush',
  'testPush',
  'generateAuthToken',
  'verifyUser',
  'submitAuthResults',
  'validateAuth',
  'saveFaceauthSuccess',
]
