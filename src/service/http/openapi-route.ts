import type { Context } from 'hono'
import { openApiInParts } from '../../contract/openapi.ts'
import { sendStatic, staticFile, type StaticFile } from './static-file.ts'

const headers = { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }

/** The contract at `/openapi.json`: made once, at the first request, a part in each turn of the event loop. */
export const createOpenApiRoute = (publicUrl: string) => {
  const prepare = async (): Promise<StaticFile> => {
    const parts = openApiInParts(publicUrl)
    for (;;) {
      const { done, value } = parts.next()
      if (done) return staticFile('application/json; charset=utf-8', JSON.stringify(value))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  let file: Promise<StaticFile> | undefined
  return async (context: Context, id: string): Promise<Response> =>
    sendStatic(context, await (file ??= prepare()), { ...headers, 'x-request-id': id })
}
