import { keptSecret } from '../../contract/organization-document.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { yamlText } from '../terminal/yaml-text.ts'
import {
  isList,
  keyOf,
  policyFields,
  sections,
  type Fields,
  type Row,
  type Section,
  type State,
} from './state.ts'

/** The name that the first line of an export tells editors. */
export const schemaFile = 'svc.schema.json'

const header = (slug: string): string => `# yaml-language-server: $schema=./${schemaFile}
#
# Organization ${safeLine(slug)}, as svc export wrote it.
#   svc diff FILE     what the service and this file differ in
#   svc apply FILE    make the service as this file says; asks first, and deletes only with --prune
# What this file leaves out is left alone. Secrets, codes and API keys are not in it.
# For an editor that checks and completes: svc export --schema > ${schemaFile}
`

const organization = ({ key, fields }: Row): Fields => {
  const policy = Object.fromEntries(
    policyFields.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  )
  return {
    slug: key,
    name: fields.name,
    ...(Object.keys(policy).length > 0 && { policy }),
  }
}

const written = (section: Section, rows: Row[]): unknown => {
  if (section === 'organization') return organization(rows[0]!)
  if (section === 'idp') return rows[0] ? { ...rows[0].fields, client_secret: keptSecret } : null
  return isList(section) ? rows.map(({ key, fields }) => ({ [keyOf[section]]: key, ...fields })) : undefined
}

/** What the service holds, as a file: the same state is the same text. */
export const exportText = ({ slug, rows, ambiguous }: State): string => {
  const apart = ambiguous.map(
    ({ section, key, ids }) =>
      `# Left out: ${ids.length} ${section} are called ${safeJson(key)}; give each a name of its own and export again.\n`,
  )
  const blocks = sections
    .filter((section) => rows[section])
    .map((section) => yamlText({ [section]: written(section, rows[section]!) }, { compat: 'yaml-1.1' }))
  return [header(slug), ...apart, '\nsvc: 1\n', ...blocks.map((block) => `\n${block}`)].join('')
}
