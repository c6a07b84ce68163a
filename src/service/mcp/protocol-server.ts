import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { issuesOf } from '../../contract/issues.ts'

type Handle = Parameters<Server['_wrapHandler']>[1]

/** What the validator of the SDK found, which it throws as JSON inside of an error message. */
const findings = (message: string): z.core.$ZodIssue[] | undefined => {
  const start = message.indexOf('[\n')
  if (start === -1) return undefined
  try {
    return JSON.parse(message.slice(start)) as z.core.$ZodIssue[]
  } catch {
    return undefined
  }
}

const anything = z.unknown()

const invalidParams = (method: string, request: unknown, issues: z.core.$ZodIssue[]): ProtocolError => {
  const found = issuesOf({ issues } as z.core.$ZodError, anything, request)
  const words = found.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${words}`)
}

/** The SDK answers params that are not valid with an internal error or a dump of its validator; this one says what is wrong. */
export class ProtocolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handle): Handle {
    const handle = super._wrapHandler(method, handler)
    return async (request, context: ServerContext) => {
      try {
        return await handle(request, context)
      } catch (error) {
        const found = error instanceof Error ? findings(error.message) : undefined
        throw found ? invalidParams(method, request, found) : error
      }
    }
  }
}
