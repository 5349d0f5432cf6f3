/** Commands for plans: lists of quotas that users get as a whole. */
import { GivePlanReq, PlanParams, PlansQuery } from '../../../contract/plans.ts'
import { UserParams } from '../../../contract/users.ts'
import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { safe } from '../../safe.ts'
import { done } from '../answers.ts'
import { APPLY_OPTIONS, CONFIRMED_OPTIONS } from '../bulk/confirmed.ts'
import { ROLL_OUT_FIELDS } from '../bulk/requests.ts'
import { optionsOf } from '../fields.ts'
import { list } from '../lists.ts'
import { CONNECTION_OPTIONS, readAddress } from '../profiles.ts'
import { remoteCommand } from '../remote-command.ts'
import { columns } from '../tables.ts'

type ListedPlan = {
  id: number
  version: number
  name: string
  is_default: boolean
  updated_at: string
  updated_by: string
}

export const PLAN_COMMANDS: readonly Command[] = [
  remoteCommand({
    name: 'plan list',
    summary: 'Lists plans, newest first.',
    operation: 'listPlans',
    requests: [PlansQuery],
    show: list(columns<ListedPlan>('id', 'version', 'name', 'is_default', 'updated_at', 'updated_by')),
    examples: ['sms-quota plan list', 'sms-quota plan list --archived true'],
  }),
  remoteCommand({
    name: 'plan get',
    summary: 'Shows a plan, and how many users have which version.',
    operation: 'getPlan',
    requests: [PlanParams],
    operands: { id: 'PLAN' },
    names: 'plan',
    examples: ['sms-quota plan get 1', 'sms-quota plan get Basic'],
  }),
  {
    name: 'plan apply',
    summary: 'Makes a plan what a file says, or creates it.',
    more: () => `The file is YAML or JSON with name, slots and, if it should change, is_default, as in the API; except_countries: [DE] stands for all other
countries. The plan is that with the id of the
file, otherwise that with its name. First the differences are shown, and the command asks; --yes does not ask, --dry-run only shows.
The same file again changes nothing. Users have the new version after plan roll-out. - reads stdin.

${EXIT_CODES}`,
    operands: [{ name: 'FILE' }],
    options: {
      ...APPLY_OPTIONS,
      ...CONNECTION_OPTIONS,
      ...HELP_OPTION,
    },
    examples: ['sms-quota plan apply basic.yaml --dry-run', 'sms-quota plan apply basic.yaml --yes'],
    async run(args, terminal) {
      const service = readAddress(args, terminal.env)
      const { applyPlan } = await import('./apply.ts')
      return applyPlan(args, service, terminal)
    },
  },
  {
    name: 'plan roll-out',
    summary:
      'Gives the current version of a plan to many users: to all who have an older one, unless others are named.',
    more: () => `First it shows what would become of users and quotas, and asks; --yes does not ask, --dry-run only shows. If it is interrupted, run it
again with the idempotency key that it prints. PLAN is the id of a plan, or its name.

${EXIT_CODES}`,
    operands: [{ name: 'PLAN' }],
    options: { ...optionsOf(ROLL_OUT_FIELDS), ...CONFIRMED_OPTIONS, ...CONNECTION_OPTIONS, ...HELP_OPTION },
    examples: [
      'sms-quota plan roll-out 1 --dry-run',
      'sms-quota plan roll-out 1 --users 7,8 --yes',
      'sms-quota plan roll-out 1 --from-plan 2 --yes',
    ],
    async run(args, terminal) {
      const service = readAddress(args, terminal.env)
      const { progressLine } = await import('../../on-database.ts')
      const { rollOutPlan } = await import('./roll-out.ts')
      return rollOutPlan(args, service, terminal, progressLine())
    },
  },
  remoteCommand({
    name: 'plan of',
    summary: 'Shows the plan of a user, and its quotas.',
    operation: 'getPlanOfUser',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    examples: ['sms-quota plan of 7'],
  }),
  remoteCommand({
    name: 'plan give',
    summary: 'Gives a user the current version of a plan. The same again changes nothing.',
    operation: 'givePlan',
    requests: [UserParams, GivePlanReq],
    operands: { user_id: 'USER', plan_id: 'PLAN' },
    examples: [
      'sms-quota plan give 7 1',
      'sms-quota plan give ref:customer-1042 Basic',
      'sms-quota plan give 7 1 --reset',
      'sms-quota plan give 7 1 --fresh',
    ],
  }),
  remoteCommand({
    name: 'plan take',
    summary: 'Takes the plan of a user away: its quotas end now.',
    operation: 'takePlan',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    show: done(({ args }) => `User ${safe(args.operand(0))} has no plan.`),
    examples: ['sms-quota plan take 7'],
  }),
]
