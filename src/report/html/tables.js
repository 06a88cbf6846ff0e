// Tables that can be sorted, and names in them that lead to their charts.

function makeSortable(table) {
  const body = table.tBodies[0];
  const written = [...body.rows]; // the order of the file
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener('click', () => sortBy(table, body, written, heading, column));
  });
}

// First the direction that people look for, numbers from the largest; then the other; then as written.
function sortBy(table, body, written, heading, column) {
  const number = heading.classList.contains('num');
  const orders = number ? ['descending', 'ascending', 'none'] : ['ascending', 'descending', 'none'];
  const before = heading.getAttribute('aria-sort') || 'none';
  const order = orders[(orders.indexOf(before) + 1) % 3];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  const rows = [...written];
  if (order !== 'none') {
    heading.setAttribute('aria-sort', order);
    const sign = order === 'ascending' ? 1 : -1;
    const key = (row) => {
      const cell = row.cells[column];
      return number ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
    };
    const compare = number ? (a, b) => a - b : (a, b) => a.localeCompare(b, undefined, { numeric: true });
    rows.sort((a, b) => sign * compare(key(a), key(b)));
  }
  body.append(...rows);
}

function linkScopes(root, choose) {
  for (const cell of root.querySelectorAll('[data-scope]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'scope';
    button.title = 'Show its charts';
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener('click', () => choose(Number(cell.dataset.scope)));
  }
}
