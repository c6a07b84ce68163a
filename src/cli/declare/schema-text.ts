import { jsonSchema } from '../../contract/json-schema.ts'
import { organizationDocument } from '../../contract/organization-document.ts'

const day = '(?:mon|tue|wed|thu|fri|sat|sun)'

/** Allows `mon-fri` and `daily` for days, which the service itself does not accept. */
const allowRanges = (name: string, value: unknown): unknown => {
  if (name === 'x-spec') return undefined
  if (name !== 'days') return value
  const { description, examples } = value as { description?: string; examples?: unknown }
  const word = `(?:daily|${day}(?:-${day})?)`
  return {
    anyOf: [
      { type: 'array', minItems: 1, items: { type: 'string', pattern: `^${word}$` } },
      { type: 'string', pattern: `^${word}(?:,${word})*$` },
    ],
    description,
    examples,
  }
}

/** The JSON Schema of a file. Editors support draft 7 best. */
export const documentSchema = (): string => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'An organization, as svc export writes it and svc apply reads it',
    ...jsonSchema(organizationDocument, 'draft-7'),
  }
  return `${JSON.stringify(schema, allowRanges, 2)}\n`
}
