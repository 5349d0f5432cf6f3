import { Button } from '@mantine/core'
import type { ReactNode } from 'react'

interface RowButtonProps {
  /** What it does and to what, for those who do not see the row. */
  label: string
  /** Whether it is what most come for. */
  isFirst?: boolean
  onClick: () => void
  children: ReactNode
}

/** A button in a row of a table that opens a dialog. */
export function RowButton({ label, isFirst = false, onClick, children }: RowButtonProps) {
  const variant = isFirst ? 'filled' : 'default'
  return (
    <Button size="compact-xs" variant={variant} aria-haspopup="dialog" aria-label={label} onClick={onClick}>
      {children}
    </Button>
  )
}
