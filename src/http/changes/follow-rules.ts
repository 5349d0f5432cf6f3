import type { Pauses } from '../../engine/pauses.ts'

/**
 * Reads the rules that processes know in common, pauses and rate cards, so that the caller finds its change obeyed by this process. The job
 * reads them in any case, and says if it cannot.
 */
export const followRules = (pauses: Pick<Pauses, 'read'>): Promise<void> => pauses.read().catch(() => {})
