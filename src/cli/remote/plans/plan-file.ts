/** A plan in a file: read, checked as the service does, and compared with the plan that is stored. */
import Type, { type Static } from 'typebox'
import { CreatePlanReq } from '../../../contract/plans.ts'
import { closed, positive } from '../../../contract/schemas.ts'
import { type PlanSlot, slotIssues, slotOf } from '../../../domain/plans/plan.ts'
import { PLAN_DEFAULTS, type PlanFields, planFieldsOf } from '../../../domain/plans/plan-fields.ts'
import { isDeepEqual } from '../../../domain/quotas/quota-settings.ts'
import type { ValidationIssue } from '../../../errors.ts'
import { slotDraftOf } from '../../../http/plans/requests.ts'
import { compileCheck } from '../../../http/platform/validation.ts'
import { UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import { changesIn, valueText } from '../changes.ts'
import { EXCEPTIONS, withCountries } from '../countries.ts'

const PlanFile = Type.Object({ id: Type.Optional(positive()), ...CreatePlanReq.properties }, closed)
export type PlanFile = Static<typeof PlanFile>

/** A plan has at most 20 slots, each of which the API takes in less. */
const MAX_CHARACTERS = 256 * 1024
/** Values that aliases repeat. A few aliases of aliases could fill the memory. */
const MAX_ALIASES = 100

const checkPlan = compileCheck(PlanFile)

/**
 * The plan in a text of YAML or JSON, which YAML includes.
 *
 * @param shown names the file
 * @throws UsageError with all that is wrong
 */
export async function readPlanFile(text: string, shown: string): Promise<PlanFile> {
  if (text.length > MAX_CHARACTERS) throw new UsageError(`${shown} has more than ${MAX_CHARACTERS} characters`)
  const { plan, wrong } = withCountriesOfSlots(await parsed(text, shown))
  const refused = (issues: readonly ValidationIssue[]) =>
    cannotBeUsed(
      shown,
      issues.map(({ path, message }) => `${nameOf(path, plan)} ${message}`),
    )
  const issues = [...wrong, ...(checkPlan(plan) ?? [])]
  if (issues.length > 0) throw refused(issues)
  // It was checked against this type.
  const file = plan as PlanFile
  const broken = slotIssues(file.slots.map(storedForm))
  if (broken.length > 0) throw refused(broken)
  return file
}

/** What may be no plan, with the countries of its slots in place of those that they except. */
function withCountriesOfSlots(plan: unknown): { plan: unknown; wrong: ValidationIssue[] } {
  if (!isObject(plan) || !Array.isArray(plan.slots)) return { plan, wrong: [] }
  const wrong: ValidationIssue[] = []
  const slots = plan.slots.map((slot, index) => {
    const expanded = isObject(slot) ? withCountries(slot) : { value: slot }
    if ('value' in expanded) return expanded.value
    wrong.push({ path: `/slots/${index}/${EXCEPTIONS}`, message: expanded.issue })
    const { [EXCEPTIONS]: _, ...others } = slot
    return others
  })
  return { plan: { ...plan, slots }, wrong }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function parsed(text: string, shown: string): Promise<unknown> {
  const { parseAllDocuments } = await import('yaml')
  const documents = [...parseAllDocuments(text, { stringKeys: true })]
  const [document] = documents
  if (document === undefined) throw new UsageError(`${shown} is empty`)
  if (documents.length > 1)
    throw new UsageError(`${shown} has ${documents.length} documents: each plan needs its own file`)
  const faults = [...document.errors, ...document.warnings]
  // The lines behind the first show a part of the file.
  if (faults.length > 0)
    throw cannotBeUsed(
      shown,
      faults.map(({ message }) => message.split('\n')[0]?.replace(/:$/, '') ?? ''),
    )
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    if (error instanceof ReferenceError)
      throw new UsageError(`${shown} has too many aliases, or one that names nothing`)
    throw error
  }
}

const cannotBeUsed = (shown: string, lines: readonly string[]) =>
  new UsageError(`${shown} cannot be used:\n${lines.map(line => `  ${line}`).join('\n')}`)

/** How messages name a place in a file: `slot monthly: limit`, or `slots.0.limit` if no other slot or none at all has a name like that. */
export function nameOf(path: string, plan: unknown): string {
  const [, first, index = '', ...field] = path.split('/')
  const names = slotNamesIn(plan)
  const name = names[Number(index)]
  if (first === 'slots' && field.length > 0 && name !== undefined && names.indexOf(name) === names.lastIndexOf(name))
    return `slot ${safe(name)}: ${field.join('.')}`
  return path === '' ? 'the plan' : path.slice(1).replaceAll('/', '.')
}

/** The names of the slots of what may be no plan. */
function slotNamesIn(plan: unknown): (string | undefined)[] {
  if (!isObject(plan) || !Array.isArray(plan.slots)) return []
  return plan.slots.map(slot => (isObject(slot) && typeof slot.slot === 'string' ? slot.slot : undefined))
}

/** A slot with all its fields, as the service stores it. */
const storedForm = (slot: PlanFile['slots'][number]): PlanSlot => slotOf(slotDraftOf(slot))

/** A plan as the API shows it. */
export interface StoredPlan extends PlanFields {
  id: number
  version: number
  archived: boolean
  slots: readonly PlanSlot[]
}

/** How the file differs from the plan that is stored, in lines; for null what it makes. */
export function differences(stored: StoredPlan | null, file: PlanFile): string[] {
  const { slots } = file
  const before = stored ?? { ...PLAN_DEFAULTS, name: file.name, slots: [] }
  const order = { before: before.slots.map(({ slot }) => slot), after: slots.map(({ slot }) => slot) }
  const dropped = order.before.filter(slot => !order.after.includes(slot))
  const isReordered =
    isDeepEqual(order.before.toSorted(), order.after.toSorted()) && !isDeepEqual(order.before, order.after)
  return [
    ...changesIn(before, planFieldsOf(before, file)),
    ...slots.flatMap(({ slot, ...fields }) => {
      const known = before.slots.find(other => other.slot === slot)
      if (known === undefined) return [`slot ${slot}: new, ${fieldsOf(fields)}`]
      const changed = changesIn(known, storedForm({ slot, ...fields }))
      return changed.length === 0 ? [] : [`slot ${slot}: ${changed.join(', ')}`]
    }),
    ...dropped.map(slot => `slot ${slot}: dropped`),
    ...(isReordered ? [`order of the slots: ${order.before.join(', ')} → ${order.after.join(', ')}`] : []),
  ]
}

const fieldsOf = (fields: object) =>
  Object.entries(fields)
    .map(([field, value]) => `${field} ${valueText(value)}`)
    .join(', ')
