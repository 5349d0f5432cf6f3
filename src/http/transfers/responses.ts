import type { Transfer as TransferView } from '../../contract/transfers.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time/time.ts'
import type { Transfer } from '../../domain/units/transfer.ts'

export function transferView({ window_no: _no, window_start, expires_at, at, ...transfer }: Transfer): TransferView {
  return {
    ...transfer,
    window_start: formatTimestamp(window_start),
    expires_at: formatTimestampOrNull(expires_at),
    at: formatTimestamp(at),
  }
}
