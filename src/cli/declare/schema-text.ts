import { jsonSchema } from '../../contract/json-schema.ts'
import { organizationDocument } from '../../contract/organization-document.ts'

/** The JSON Schema of a file, for editors: draft 7 is what they know best. */
export const documentSchema = (): string => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'An organization, as svc export writes it and svc apply reads it',
    ...jsonSchema(organizationDocument, 'draft-7'),
  }
  return `${JSON.stringify(schema, (name, value: unknown) => (name === 'x-spec' ? undefined : value), 2)}\n`
}
