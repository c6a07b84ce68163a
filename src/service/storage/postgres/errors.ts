import { Refusal } from '../../../core/refusal.ts'
import { damaged } from '../damage.ts'
import { unavailable } from '../storage.ts'
import { rowSwallowed } from '../store-changed.ts'
import { RunAgain } from '../transaction.ts'

/**
 * Classes of SQLSTATE after which the database may work again later: connection, login, no such database, resources, operator,
 * system.
 */
const temporaryClasses = ['08', '28', '3D', '53', '57', '58']
/** Lock not available; read-only transaction; idle in transaction; rights that were revoked. */
const temporaryCodes = new Set(['55P03', '25006', '25P03', '42501'])
/** Serialization failure; deadlock; a prepared statement from before a newer node has upgraded the schema. */
const conflicts = new Set(['40001', '40P01', '0A000'])
/** Data corrupted; index corrupted. */
const damageCodes = new Set(['XX001', 'XX002'])
/** Only the statement that looks for a row of the audit divides. */
const divisionByZero = '22012'
const networkCodes = /^(?:E[A-Z]+|ERR_[A-Z_]+)$/

export const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}

/** Whether the transaction was undone because of another one, and can run again. */
export const isConflict = (error: unknown): boolean => conflicts.has(codeOf(error) ?? '')

/** Whether a statement waited for a lock as long as it may. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03'

/** Whether the connection is gone: an error without a SQLSTATE that the driver or the network made, or a shutdown. */
export const isConnectionLost = (error: unknown): boolean => {
  if (error instanceof Refusal) return false
  const code = codeOf(error)
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.test(code))
    return code.startsWith('08') || code.startsWith('57P') || code === '25P03'
  if (code !== undefined) return networkCodes.test(code)
  const { message } = error as Error
  return /^Connection terminated|^Client (?:was closed|has encountered)|^timeout exceeded when trying|^Query read timeout/.test(
    message ?? '',
  )
}

const isTemporary = (error: unknown): boolean => {
  const code = codeOf(error) ?? ''
  return (
    isConnectionLost(error) ||
    isConflict(error) ||
    // Others were faster each time.
    error instanceof RunAgain ||
    temporaryCodes.has(code) ||
    (code.length === 5 && temporaryClasses.some((start) => code.startsWith(start)))
  )
}

/** An error of a database that may work again later, or that is damaged, as a Refusal 503; any other error as it is. */
export const asUnavailable = (error: unknown): unknown => {
  if (damageCodes.has(codeOf(error) ?? '')) return damaged(error)
  if (codeOf(error) === divisionByZero) return rowSwallowed()
  return isTemporary(error) ? unavailable(error, 'Check the database, then try again: svc doctor') : error
}

/** A commit whose answer was lost, and that could not be found again. */
export const outcomeUnknown = (cause: unknown): Refusal =>
  new Refusal(
    503,
    'outcome_unknown',
    'The connection to the database was lost during the commit; the change may have been made',
    {
      hint: 'Repeat the request with the same Idempotency-Key, or check first whether the change was made',
      cause,
    },
  )
