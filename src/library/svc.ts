// What `import … from 'svc'` offers. Nothing here loads the command line or the service.
export { createClient, type Client } from './create-client.ts'
export type { Operations } from './calls.ts'
export type { CallOptions, ClientOptions } from './options.ts'
export { verifyReceipt } from './verify.ts'
export {
  watchApproval,
  type ApprovalRequest,
  type Wanted,
  type WatchedApproval,
  type WatchOptions,
} from './watch.ts'
export { SvcError, type Issue } from '../core/errors.ts'
export type { Expectations } from '../receipt/expectations.ts'
export type { ReceiptVerification } from '../receipt/verify.ts'
