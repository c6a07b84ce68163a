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

/** The schema file that the first line of an export names for editors. */
const schemaFile = 'svc.schema.json'

const header = (slug: string): string => `# yaml-language-server: $schema=./${schemaFile}
#
# Organization ${safeLine(slug)}, exported by svc export.
#   svc diff FILE     show how the service differs from this file
#   svc apply FILE    make the service match this file; asks for confirmation, and deletes only with --prune
# Everything that is not in this file stays as it is. The file contains no secrets, codes or API keys.
# For validation and completion in an editor: svc export --schema > ${schemaFile}
`

const organization = ({ key: slug, fields }: Row): Fields => {
  const policy = Object.entries(fields).filter(([name]) => policyFields.includes(name))
  return { slug, name: fields.name, ...(policy.length > 0 && { policy: Object.fromEntries(policy) }) }
}

const content = (section: Section, rows: Row[]): unknown => {
  if (section === 'organization') return organization(rows[0]!)
  if (section === 'idp') return rows[0] ? { ...rows[0].fields, client_secret: keptSecret } : null
  return isList(section) ? rows.map(({ key, fields }) => ({ [keyOf[section]]: key, ...fields })) : undefined
}

/** Who the members of groups are: their numbers alone say nothing. */
const legend = ({ rows, names }: State): string => {
  const members = new Set((rows.groups ?? []).flatMap(({ fields }) => fields.members as string[]))
  return [...members]
    .toSorted()
    .flatMap((mobile) => (names.has(mobile) ? [`# ${mobile}  ${safeLine(names.get(mobile)!)}\n`] : []))
    .join('')
}

/** The file for a state. The same state always has the same text. */
export const exportText = (state: State): string => {
  const { slug, rows, ambiguous } = state
  const skipped = ambiguous.map(
    ({ section, key, ids }) =>
      `# Left out: ${ids.length} ${section} have the name ${safeJson(key)}; give each a unique name, and export again.\n`,
  )
  const blocks = sections
    .filter((section) => rows[section])
    .map(
      (section) =>
        (section === 'groups' ? legend(state) : '') +
        yamlText({ [section]: content(section, rows[section]!) }, { compat: 'yaml-1.1' }),
    )
  return [header(slug), ...skipped, '\nsvc: 1\n', ...blocks.map((block) => `\n${block}`)].join('')
}
