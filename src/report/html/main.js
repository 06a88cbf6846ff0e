// Brings the page to life. What is here before already tells everything in tables.

function fillScopes(select, report) {
  const several = report.scopes.filter((each) => each.kind === 'workflow').length > 1;
  report.scopes.forEach((scope, index) => {
    if (scope.kind === 'workflow' && !several) return;
    let { name } = scope;
    if (scope.kind === 'run') name = 'the whole run';
    if (scope.kind === 'workflow') name = `workflow ${name}`;
    if (scope.kind === 'step' && several) name = `${report.scopes[scope.workflow].name} · ${name}`;
    select.append(new Option(name, String(index)));
  });
}

function start() {
  for (const table of document.querySelectorAll('table.sortable')) makeSortable(table);
  const charts = document.getElementById('charts');
  if (!charts) return;
  const report = new Report(document.getElementById('data').textContent);
  charts.hidden = false;
  const spreadBox = document.getElementById('spread');
  spreadBox.hidden = false;
  const timeline = new Timeline(document.getElementById('stack'), document.getElementById('readout'), report);
  const spread = new Spread(spreadBox);
  const select = document.getElementById('scope');
  const reset = document.getElementById('reset');
  fillScopes(select, report);

  const show = (wanted) => {
    // The only workflow of a run is the run.
    const index = [...select.options].some((option) => Number(option.value) === wanted) ? wanted : 0;
    select.value = String(index);
    timeline.setScope(index);
    spread.setData(report.scope(index));
  };
  select.addEventListener('change', () => show(Number(select.value)));
  document.getElementById('log-scale').addEventListener('change', (event) => {
    timeline.setLogScale(event.target.checked);
  });
  timeline.onZoom = (zoomed) => {
    reset.disabled = !zoomed;
  };
  reset.addEventListener('click', () => {
    timeline.showAll();
    timeline.stack.focus({ preventScroll: true });
  });
  linkScopes(document, (index) => {
    show(index);
    document.getElementById('timeline').scrollIntoView();
    timeline.stack.focus({ preventScroll: true });
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && timeline.zoomed) timeline.showAll();
  });
  addEventListener('beforeprint', () => {
    for (const each of document.querySelectorAll('details')) each.open = true;
  });
  show(0);
  timeline.drawNow();
  document.documentElement.dataset.ready = 'true';
}

start();
