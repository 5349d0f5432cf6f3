import { Button, Checkbox, SegmentedControl } from '@mantine/core'
import { COLUMN_IDS } from '../../components/quota-table.tsx'
import { texts } from '../../texts/texts.ts'
import { DEFAULT_OPTIONS, DENSITIES, type TableOptions } from './options.ts'
import classes from './quotas.module.css'

interface TableOptionsPanelProps {
  options: TableOptions
  onChange: (options: TableOptions) => void
}

/** Choice of columns and density; the table beside it follows at once. */
export default function TableOptionsPanel({ options, onChange }: TableOptionsPanelProps) {
  const { columns, density } = options
  const { label, reset, densities } = texts.quotas.options
  return (
    <section className={classes.options} aria-label={label}>
      <SegmentedControl
        size="xs"
        aria-label={texts.quotas.options.density}
        value={density}
        data={DENSITIES.map(value => ({ value, label: densities[value] }))}
        onChange={value => onChange({ ...options, density: value })}
      />
      {COLUMN_IDS.map(id => (
        <Checkbox
          key={id}
          size="xs"
          label={texts.quotas.columns[id]}
          checked={columns.includes(id)}
          onChange={event =>
            onChange({
              ...options,
              columns: event.currentTarget.checked ? [...columns, id] : columns.filter(other => other !== id),
            })
          }
        />
      ))}
      <Button variant="subtle" size="compact-sm" onClick={() => onChange(DEFAULT_OPTIONS)}>
        {reset}
      </Button>
    </section>
  )
}
