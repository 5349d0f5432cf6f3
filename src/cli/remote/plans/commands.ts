/** Commands for plans: lists of quotas that users get as a whole. */
import { GivePlanReq, PlanParams, PlansQuery } from '../../contract/plans.ts'
import { UserParams } from '../../contract/users.ts'
import type { Command } from '../command.ts'
import { safe } from '../safe.ts'
import { done, record } from './answers.ts'
import { list } from './lists.ts'
import { remoteCommand } from './remote-command.ts'
import { columns } from './tables.ts'

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
    operands: { id: 'ID' },
    show: record,
    examples: ['sms-quota plan get 1'],
  }),
  remoteCommand({
    name: 'plan of',
    summary: 'Shows the plan of a user, and its quotas.',
    operation: 'getPlanOfUser',
    requests: [UserParams],
    operands: { user_id: 'USER' },
    show: record,
    examples: ['sms-quota plan of 7'],
  }),
  remoteCommand({
    name: 'plan give',
    summary: 'Gives a user the current version of a plan. The same again changes nothing.',
    operation: 'givePlan',
    requests: [UserParams, GivePlanReq],
    operands: { user_id: 'USER', plan_id: 'PLAN' },
    show: record,
    examples: ['sms-quota plan give 7 1', 'sms-quota plan give 7 1 --reset'],
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
