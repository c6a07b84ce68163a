import * as z from 'zod/mini'
import { isId, metaOf, type FieldMeta } from '../contract/field.ts'
import type { Operation } from '../contract/operation.ts'
import { pathNames } from '../contract/path.ts'
import { fieldSchemas } from '../contract/schema.ts'
import { SvcError, type Issue } from '../core/errors.ts'

const pathIssue = (name: string, value: unknown): Issue[] => {
  if (value === undefined || value === null || value === '')
    return [{ field: name, message: 'is required: it is part of the address' }]
  // These would shorten the path: `/user/../delete`.
  if (value === '.' || value === '..') return [{ field: name, message: 'must not be . or ..' }]
  return []
}

/** zod/mini reports `Invalid input` if the schema has no message. */
export const messageFor = (message: string, { description, examples }: FieldMeta): string =>
  message === 'Invalid input'
    ? `is not valid: ${description}${examples ? `, such as ${JSON.stringify(examples[0])}` : ''}`
    : message

/**
 * Checks only what the specification shows, so that svc never refuses input that a third-party service would accept.
 * Throws a usage error that names each field.
 */
export const checkShownFields = (operation: Operation, input: Record<string, unknown>): void => {
  const issues = pathNames(operation.path).flatMap((name) => pathIssue(name, input[name]))
  for (const [name, schema] of Object.entries(fieldSchemas(operation.input))) {
    // A third-party service may return its ids as numbers, and must get them back unchanged.
    const value = isId(schema) && Number.isSafeInteger(input[name]) ? String(input[name]) : input[name]
    const meta = metaOf(schema)
    if (value === undefined || meta?.source !== 'shown') continue
    const checked = z.safeParse(schema, value)
    for (const { path, message } of checked.error?.issues ?? [])
      issues.push({ field: [name, ...path].join('.'), message: messageFor(message, meta) })
  }
  const [first] = issues
  if (!first) return
  throw new SvcError('usage', 'invalid_field', `${first.field} ${first.message}`, {
    issues,
    hint: `svc ${operation.cli} --help`,
  })
}
