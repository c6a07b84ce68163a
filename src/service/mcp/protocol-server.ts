import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { issuesOf } from '../../contract/issues.ts'

type Handle = Parameters<Server['_wrapHandler']>[1]

/** The issues that the validator of the SDK throws as JSON inside of an error message. */
const readIssues = (message: string): z.core.$ZodIssue[] | undefined => {
  const start = message.indexOf('[\n')
  if (start === -1) return undefined
  try {
    return JSON.parse(message.slice(start)) as z.core.$ZodIssue[]
  } catch {
    return undefined
  }
}

const invalidParams = (method: string, request: unknown, issues: z.core.$ZodIssue[]): ProtocolError => {
  const found = issuesOf({ issues } as z.core.$ZodError, z.unknown(), request)
  const words = found.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${words}`)
}

/** Reports invalid params in words. The SDK answers with an internal error or a dump of its validator. */
export class ProtocolServer extends Server {
  protected override _wrapHandler(method: string, handler: Handle): Handle {
    const handle = super._wrapHandler(method, handler)
    return async (request, context: ServerContext) => {
      try {
        return await handle(request, context)
      } catch (error) {
        const found = error instanceof Error ? readIssues(error.message) : undefined
        throw found ? invalidParams(method, request, found) : error
      }
    }
  }
}
