import { Document, stringify, visit, type CreateNodeOptions, type SchemaOptions } from 'yaml'
import { isSeen, seenYaml } from '../../core/safe-text.ts'

const options = { lineWidth: 0 } as const

/** A value as YAML. Escapes invisible characters in the way of YAML, so that nothing is lost. */
export const yamlText = (value: unknown, more: SchemaOptions = {}): string => {
  const settings: CreateNodeOptions & SchemaOptions = { ...more, aliasDuplicateObjects: false }
  const text = stringify(value, { ...settings, ...options })
  if (isSeen(text)) return text
  // YAML has escapes only in quoted text.
  const document = new Document(value, settings)
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && !isSeen(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return seenYaml(document.toString(options))
}
