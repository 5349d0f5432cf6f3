import { useQuery } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../../src/domain/bounds.ts'
import { nameOfQuota } from '../quota-words.ts'
import { readOf, type Subject } from './subject.ts'

const NOTHING: ReadonlyMap<number, string> = new Map()

/** What a user's quotas are called, by id; as many as a page holds, the newest. Empty until they are there. */
export function useQuotaNames(subject: Subject, isWanted = true): ReadonlyMap<number, string> {
  const list = useQuery({ ...readOf(subject, 'list', { page_size: MAX_PAGE_SIZE }), enabled: isWanted })
  return list.data === undefined ? NOTHING : new Map(list.data.items.map(quota => [quota.id, nameOfQuota(quota)]))
}
