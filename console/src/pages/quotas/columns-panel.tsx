import { Button, Checkbox } from '@mantine/core'
import { COLUMN_IDS, type ColumnId, DEFAULT_COLUMNS } from '../../components/quota-table.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

interface ColumnsPanelProps {
  columns: readonly ColumnId[]
  onChange: (columns: readonly ColumnId[]) => void
}

/** Choice of columns; the table beside it follows at once. */
export default function ColumnsPanel({ columns, onChange }: ColumnsPanelProps) {
  const { label, reset } = texts.quotas.options
  return (
    <section className={classes.options} aria-label={label}>
      {COLUMN_IDS.map(id => (
        <Checkbox
          key={id}
          size="xs"
          label={texts.quotas.columns[id]}
          checked={columns.includes(id)}
          onChange={event =>
            onChange(event.currentTarget.checked ? [...columns, id] : columns.filter(other => other !== id))
          }
        />
      ))}
      <Button variant="subtle" size="compact-sm" onClick={() => onChange(DEFAULT_COLUMNS)}>
        {reset}
      </Button>
    </section>
  )
}
