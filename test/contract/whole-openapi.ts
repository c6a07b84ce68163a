import { openApiInParts } from '../../src/contract/openapi.ts'

/** The whole description at once. */
export const createOpenApi = (publicUrl: string): Record<string, unknown> => {
  const parts = openApiInParts(publicUrl)
  for (;;) {
    const { done, value } = parts.next()
    if (done) return value
  }
}
